/* What a board of Arm's has for a program without an operating system, under an emulator. */
#ifndef BOARD_H
#define BOARD_H

#include <stddef.h>
#include <stdint.h>

/* To whoever runs the emulator. */
void print(const char *text, size_t size);
void say(const char *text);
void say_number(int32_t number);

/* Called when the memory is ready; its status is the emulator's. */
int main(void);

#endif
