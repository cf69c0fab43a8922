#ifndef PLIM_TESTS_EXPORT_SUPPORT_H
#define PLIM_TESTS_EXPORT_SUPPORT_H

#include <stddef.h>
#include <stdint.h>

/* Of the machine. */
void print(const char *text, size_t size);

void print_text(const char *text);
void print_number(size_t number);
void print_bytes(const uint8_t *bytes, size_t count);

/* Of the case. */
int run_case(void);
void print_results(void);

int main(void);

#endif
