#include "cuda_program.hpp"

#include <stdexcept>

#ifdef HARMONIA_TORCH_CUDA

#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <nvrtc.h>

#include <array>
#include <map>
#include <mutex>
#include <vector>

namespace harmonia {
namespace {

// A function of CUDA's driver or compiler. Neither is linked: libtorch loads both itself, through the first of these
// libraries, when it wants them.
template <class Function>
Function* loaded(const char* name) {
  static const std::array<void*, 3> libraries{dlopen("libcaffe2_nvrtc.so", RTLD_LAZY), dlopen("libnvrtc.so", RTLD_LAZY),
                                              dlopen("libcuda.so.1", RTLD_LAZY)};
  for (void* const library : libraries) {
    void* const found = library != nullptr ? dlsym(library, name) : nullptr;
    if (found != nullptr) return reinterpret_cast<Function*>(found);
  }
  throw std::runtime_error(fmt::format("CUDA's function {} is not there", name));
}

struct Cuda {
  decltype(nvrtcCreateProgram)* create_program = loaded<decltype(nvrtcCreateProgram)>("nvrtcCreateProgram");
  decltype(nvrtcCompileProgram)* compile_program = loaded<decltype(nvrtcCompileProgram)>("nvrtcCompileProgram");
  decltype(nvrtcDestroyProgram)* destroy_program = loaded<decltype(nvrtcDestroyProgram)>("nvrtcDestroyProgram");
  decltype(nvrtcGetProgramLogSize)* log_size = loaded<decltype(nvrtcGetProgramLogSize)>("nvrtcGetProgramLogSize");
  decltype(nvrtcGetProgramLog)* log = loaded<decltype(nvrtcGetProgramLog)>("nvrtcGetProgramLog");
  decltype(nvrtcGetPTXSize)* code_size = loaded<decltype(nvrtcGetPTXSize)>("nvrtcGetPTXSize");
  decltype(nvrtcGetPTX)* code = loaded<decltype(nvrtcGetPTX)>("nvrtcGetPTX");
  decltype(cuCtxGetDevice)* device = loaded<decltype(cuCtxGetDevice)>("cuCtxGetDevice");
  decltype(cuDeviceGetAttribute)* attribute = loaded<decltype(cuDeviceGetAttribute)>("cuDeviceGetAttribute");
  decltype(cuModuleLoadData)* load_module = loaded<decltype(cuModuleLoadData)>("cuModuleLoadData");
  decltype(cuModuleGetFunction)* function = loaded<decltype(cuModuleGetFunction)>("cuModuleGetFunction");
  decltype(cuLaunchKernel)* launch_kernel = loaded<decltype(cuLaunchKernel)>("cuLaunchKernel");
};

const Cuda& cuda() {
  static const Cuda functions;
  return functions;
}

void require(CUresult result, const char* what) {
  if (result != CUDA_SUCCESS) throw std::runtime_error(fmt::format("{}: CUDA error {}", what, static_cast<int>(result)));
}

// The architecture of the current GPU, as the compiler names it.
std::string target() {
  CUdevice device{};
  int major = 0, minor = 0;
  require(cuda().device(&device), "no current GPU");
  require(cuda().attribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device), "the GPU's version");
  require(cuda().attribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device), "the GPU's version");
  return fmt::format("--gpu-architecture=compute_{}{}", major, minor);
}

std::vector<char> compiled(const std::string& text) {
  nvrtcProgram program{};
  if (cuda().create_program(&program, text.c_str(), "harmonia.cu", 0, nullptr, nullptr) != NVRTC_SUCCESS)
    throw std::runtime_error("CUDA's compiler does not start");
  const std::string architecture = target();
  const std::array<const char*, 2> options{architecture.c_str(), "--std=c++17"};
  const nvrtcResult result = cuda().compile_program(program, static_cast<int>(options.size()), options.data());
  std::size_t size = 0;
  if (result != NVRTC_SUCCESS) {
    cuda().log_size(program, &size);
    std::string log(size, '\0');
    cuda().log(program, log.data());
    cuda().destroy_program(&program);
    throw std::runtime_error("CUDA's compiler: " + log);
  }
  cuda().code_size(program, &size);
  std::vector<char> code(size);
  cuda().code(program, code.data());
  cuda().destroy_program(&program);
  return code;
}

// Of a text on a GPU; modules stay until the process ends, as libtorch's own do.
CUfunction function_of(const std::string& text, const char* name) {
  static std::mutex mutex;
  static std::map<std::pair<int, const std::string*>, CUmodule> modules;
  static std::map<std::pair<CUmodule, std::string>, CUfunction> functions;
  const std::lock_guard lock(mutex);
  CUmodule& module = modules[{c10::cuda::current_device(), &text}];
  if (module == nullptr) require(cuda().load_module(&module, compiled(text).data()), "CUDA code cannot be loaded");
  CUfunction& function = functions[{module, name}];
  if (function == nullptr) require(cuda().function(&function, module, name), name);
  return function;
}

}  // namespace

bool has_cuda_programs() { return true; }

void launch(const std::string& text, const char* function, LaunchShape shape, void** arguments) {
  require(cuda().launch_kernel(function_of(text, function), shape.blocks, shape.blocks_of_second_axis, 1, shape.threads, 1,
                               1, 0, c10::cuda::getCurrentCUDAStream().stream(), arguments, nullptr),
          function);
}

}  // namespace harmonia

#else

namespace harmonia {

bool has_cuda_programs() { return false; }

void launch(const std::string&, const char*, LaunchShape, void**) {
  throw std::runtime_error("built for a libtorch without CUDA");
}

}  // namespace harmonia

#endif
