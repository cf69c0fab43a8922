/* The kernels of the benchmark in plain C. */
#ifndef PLIM_BENCH_EXPORT_PLAIN_H
#define PLIM_BENCH_EXPORT_PLAIN_H

#include <stdint.h>

void plain_product(const int8_t *a, const int8_t *b, int32_t *c);
void plain_depthwise(const int8_t *x, const int8_t *w, int32_t *y);
void plain_convolution(const int8_t *x, const int8_t *w, int32_t *y);
void plain_requantise(const int32_t *x, const int32_t *bias, int8_t *y);
void plain_floats(const float *a, const float *b, float *c);

#endif
