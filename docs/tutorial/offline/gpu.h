/* gpu.h - memory on the first GPU: what a program has already, by its framework.
 *
 * Part of Eider, under the Apache License v2.0.
 */
#ifndef GPU_H
#define GPU_H

#include <stddef.h>

/* Makes the first GPU's context current. All functions give 0 or what the driver says; -1 without a
 * driver. */
int gpu_open(void);
int gpu_allocate(void **memory, size_t bytes);
int gpu_upload(void *memory, const void *from, size_t bytes);
/* Waits for what was launched before. */
int gpu_download(void *to, const void *memory, size_t bytes);

#endif
