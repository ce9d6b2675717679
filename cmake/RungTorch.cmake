# Imported targets for the LibTorch inside PyPI's torch wheel; include it only where RUNG_TRAINING_ENABLED holds.
# Not find_package(Torch): that needs nvcc, links CUDA into everything and takes the system's NCCL, whose ncclConfig_t
# differs from the wheel's and would shift every field behind it without a word.
#
#   rung_torch       headers, libtorch_cpu and libc10: tensors, autograd, nn, Gloo. Starts in 0.6 s with 120 MB.
#   rung_torch_cuda  adds libtorch_cuda and the wheel's CUDA and NCCL headers. 510 MB; needs no GPU to link or start.
#
# A translation unit that includes torch takes about 20 s and 1.6 GB: rung_torch_target(NAME) puts a target's compiling and
# linking into a Ninja pool, one at a time.
include_guard(GLOBAL)

set(rung_torch_version 2.13)
file(STRINGS ${RUNG_TORCH_ROOT}/version.py version_line REGEX "^__version__")
if(NOT version_line MATCHES "'${rung_torch_version}\\.")
  message(FATAL_ERROR "rung is written for torch ${rung_torch_version}.x (c10d::Reducer has no stable interface), found ${version_line} in ${RUNG_TORCH_ROOT}")
endif()

get_filename_component(site_packages ${RUNG_TORCH_ROOT} DIRECTORY)
set(nvidia ${site_packages}/nvidia)

set_property(GLOBAL APPEND PROPERTY JOB_POOLS rung_torch=1)
function(rung_torch_target name)
  set_target_properties(${name} PROPERTIES JOB_POOL_COMPILE rung_torch JOB_POOL_LINK rung_torch)
endfunction()

add_library(rung_torch INTERFACE IMPORTED GLOBAL)
target_include_directories(rung_torch SYSTEM INTERFACE
  ${RUNG_TORCH_ROOT}/include ${RUNG_TORCH_ROOT}/include/torch/csrc/api/include)
# As the wheel was built: they decide what its headers declare.
target_compile_definitions(rung_torch INTERFACE USE_DISTRIBUTED USE_C10D_GLOO USE_RPC USE_TENSORPIPE)
target_link_libraries(rung_torch INTERFACE ${RUNG_TORCH_ROOT}/lib/libtorch_cpu.so ${RUNG_TORCH_ROOT}/lib/libc10.so Threads::Threads)
# libtorch_cpu.so needs libcudart and libcupti; its own RPATH finds them at run time.
target_link_options(rung_torch INTERFACE -Wl,-rpath-link,${nvidia}/cu13/lib)

add_library(rung_torch_cuda INTERFACE IMPORTED GLOBAL)
target_include_directories(rung_torch_cuda SYSTEM BEFORE INTERFACE ${nvidia}/nccl/include ${nvidia}/cu13/include)
target_compile_definitions(rung_torch_cuda INTERFACE USE_C10D_NCCL)
# Operators of libtorch_cuda register themselves when it is loaded; nothing need refer to it, so it must not be dropped.
target_link_libraries(rung_torch_cuda INTERFACE rung_torch
  -Wl,--no-as-needed ${RUNG_TORCH_ROOT}/lib/libtorch_cuda.so -Wl,--as-needed
  ${RUNG_TORCH_ROOT}/lib/libc10_cuda.so ${nvidia}/cu13/lib/libcudart.so.13 ${nvidia}/nccl/lib/libnccl.so.2)
target_link_options(rung_torch_cuda INTERFACE
  -Wl,-rpath-link,${nvidia}/nccl/lib:${nvidia}/cudnn/lib:${nvidia}/cusparselt/lib:${nvidia}/nvshmem/lib)
