/* What a programmer would write: one loop for each dimension. To be compiled with -Os, and with -O2. */
#include "bench/export/plain.h"

void plain_product(const int8_t *a, const int8_t *b, int32_t *c) {
  for (int i = 0; i < 125; ++i)
    for (int j = 0; j < 16; ++j) {
      int32_t sum = 0;
      for (int k = 0; k < 16; ++k)
        sum += a[16 * i + k] * b[16 * k + j];
      c[16 * i + j] = sum;
    }
}

void plain_depthwise(const int8_t *x, const int8_t *w, int32_t *y) {
  for (int i = 0; i < 25; ++i)
    for (int j = 0; j < 5; ++j)
      for (int c = 0; c < 16; ++c) {
        int32_t sum = 0;
        for (int r = 0; r < 3; ++r)
          for (int s = 0; s < 3; ++s)
            sum += x[(7 * (i + r) + j + s) * 16 + c] * w[(3 * r + s) * 16 + c];
        y[(5 * i + j) * 16 + c] = sum;
      }
}

void plain_convolution(const int8_t *x, const int8_t *w, int32_t *y) {
  for (int i = 0; i < 25; ++i)
    for (int j = 0; j < 5; ++j)
      for (int f = 0; f < 16; ++f) {
        int32_t sum = 0;
        for (int r = 0; r < 10; ++r)
          for (int s = 0; s < 4; ++s)
            sum += x[12 * (2 * i + r) + 2 * j + s] * w[(4 * r + s) * 16 + f];
        y[(5 * i + j) * 16 + f] = sum;
      }
}

void plain_requantise(const int32_t *x, const int32_t *bias, int8_t *y) {
  for (int i = 0; i < 125; ++i)
    for (int c = 0; c < 16; ++c) {
      int32_t value = ((x[16 * i + c] + bias[c]) * 21 + 512) >> 10;
      value = value < 0 ? 0 : value;
      y[16 * i + c] = (int8_t)(value > 127 ? 127 : value);
    }
}

void plain_floats(const float *a, const float *b, float *c) {
  for (int i = 0; i < 32; ++i)
    for (int j = 0; j < 32; ++j) {
      float sum = 0;
      for (int k = 0; k < 32; ++k)
        sum += a[32 * i + k] * b[32 * k + j];
      c[32 * i + j] = sum;
    }
}
