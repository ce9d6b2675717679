// Three GPUs, of which the second does not answer.

#include <cstdint>
#include <cstdio>

extern "C" {
int nvmlInit_v2() { return 0; }
int nvmlShutdown() { return 0; }
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 3;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = reinterpret_cast<void*>(static_cast<uintptr_t>(index + 1));
  return index == 1 ? 15 : 0;  // NVML_ERROR_GPU_IS_LOST
}
int nvmlDeviceGetUUID(void* device, char* text, unsigned size) {
  std::snprintf(text, size, "GPU-fake-%u",
                static_cast<unsigned>(reinterpret_cast<uintptr_t>(device)));
  return 0;
}
int nvmlDeviceGetName(void*, char* text, unsigned size) {
  std::snprintf(text, size, "Fake 9000");
  return 0;
}
}
