/* What compilers call to copy and fill memory, where there is no C library. */
#ifndef MEMORY_H
#define MEMORY_H

#include <stddef.h>

void *memset(void *to, int value, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);
void *memcpy(void *to, const void *from, size_t bytes);

#endif
