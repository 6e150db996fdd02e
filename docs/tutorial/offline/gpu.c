/* gpu.c - memory on the first GPU, by the driver's interface.
 *
 * Part of Eider, under the Apache License v2.0.
 */
#include "gpu.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int (*initialise)(unsigned flags);
static int (*retain)(void **context, int device);
static int (*set_current)(void *context);
static int (*allocate)(uint64_t *memory, size_t bytes);
static int (*copy_to)(uint64_t memory, const void *from, size_t bytes);
static int (*copy_from)(void *to, uint64_t memory, size_t bytes);

static int find(void *library, const char *symbol, void *function) {
  void *address = dlsym(library, symbol);
  memcpy(function, &address, sizeof(address));
  return address != NULL;
}

int gpu_open(void) {
  const char *path = getenv("EIDER_CUDA_DRIVER"); /* as the kernels do */
  void *library = dlopen(path ? path : "libcuda.so.1", RTLD_NOW), *context;
  int status;
  if (!library || !find(library, "cuInit", &initialise) ||
      !find(library, "cuDevicePrimaryCtxRetain", &retain) ||
      !find(library, "cuCtxSetCurrent", &set_current) ||
      !find(library, "cuMemAlloc_v2", &allocate) || !find(library, "cuMemcpyHtoD_v2", &copy_to) ||
      !find(library, "cuMemcpyDtoH_v2", &copy_from))
    return -1;
  status = initialise(0);
  if (status == 0)
    status = retain(&context, 0);
  return status != 0 ? status : set_current(context);
}

int gpu_allocate(void **memory, size_t bytes) {
  uint64_t address = 0;
  const int status = allocate(&address, bytes);
  *memory = (void *)(uintptr_t)address;
  return status;
}

int gpu_upload(void *memory, const void *from, size_t bytes) {
  return copy_to((uint64_t)(uintptr_t)memory, from, bytes);
}

int gpu_download(void *to, const void *memory, size_t bytes) {
  return copy_from(to, (uint64_t)(uintptr_t)memory, bytes);
}
