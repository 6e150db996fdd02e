/* main.c - a kernel out of quantize.h, launched.
 *
 * Part of Eider, under the Apache License v2.0.
 *
 * The rows hold every value of E4M3, so that each scale is 1 and each code is known. Exit status: 0
 * all codes are right, 1 one is not, 3 there is no GPU or it does not run the kernel.
 */
#include "gpu.h"
#include "quantize.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { TOKENS = 64, HIDDEN = 1024, GROUPS = HIDDEN / 128, ELEMENTS = TOKENS * HIDDEN };

/* The value of a code that is no NaN. */
static float value_of(int code) {
  const int exponent = (code >> 3) & 15, mantissa = code & 7;
  const float magnitude =
      exponent ? ldexpf((float)(8 + mantissa), exponent - 10) : ldexpf((float)mantissa, -9);
  return code & 0x80 ? -magnitude : magnitude;
}

/* Every group of 128 has a sign: 0x00 to 0x7e or 0x80 to 0xfe, and its largest again for the NaN.
 */
static int code_at(int i) {
  const int code = i % 256;
  return (code & 0x7f) == 0x7f ? code - 1 : code;
}

static int failed(const char *doing, int status) {
  fprintf(stderr, "offline-sample: %s: %s\n", doing, quantize_error_string(status));
  return 3;
}

int main(void) {
  static float x[ELEMENTS], scale[TOKENS * GROUPS];
  static unsigned char y[ELEMENTS];
  void *gpu_x, *gpu_y, *gpu_scale;
  int i, status, wrong = 0;
  for (i = 0; i < ELEMENTS; ++i)
    x[i] = value_of(code_at(i));

  gpu_open(); /* if it cannot, the next line says why */
  status = quantize_load();
  if (status != 0)
    return failed("loading", status);
  if (gpu_allocate(&gpu_x, sizeof(x)) || gpu_allocate(&gpu_y, sizeof(y)) ||
      gpu_allocate(&gpu_scale, sizeof(scale)) || gpu_upload(gpu_x, x, sizeof(x))) {
    fprintf(stderr, "offline-sample: no memory on the GPU\n");
    return 3;
  }

  status = quantize_launch(NULL, gpu_x, HIDDEN, gpu_y, HIDDEN, gpu_scale, GROUPS, TOKENS, NULL);
  if (status != 0)
    return failed("launching", status);
  if (gpu_download(y, gpu_y, sizeof(y)) || gpu_download(scale, gpu_scale, sizeof(scale))) {
    fprintf(stderr, "offline-sample: the kernel did not run to its end\n");
    return 3;
  }

  for (i = 0; i < ELEMENTS; ++i)
    wrong += y[i] != code_at(i);
  for (i = 0; i < TOKENS * GROUPS; ++i)
    wrong += scale[i] != 1.0f;
  printf("%d codes and %d scales, %d wrong\n", ELEMENTS, TOKENS * GROUPS, wrong);
  return wrong != 0;
}
