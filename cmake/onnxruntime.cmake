# ONNX Runtime: the one that find_package or CMAKE_PREFIX_PATH finds, else the one that scripts/setup.sh fetched.
# Sets HARMONIA_HAS_ONNX, HARMONIA_ONNXRUNTIME_TARGET, and HARMONIA_ONNXRUNTIME_BUNDLED if the library is installed along.
set(HARMONIA_HAS_ONNX FALSE)
set(HARMONIA_ONNXRUNTIME_BUNDLED FALSE)
set(HARMONIA_ONNXRUNTIME_TARGET "")
if(NOT HARMONIA_WITH_ONNX)
  message(STATUS "HARMONIA_WITH_ONNX is off: ONNX models are left out")
  return()
endif()

find_package(onnxruntime CONFIG QUIET)
if(NOT TARGET onnxruntime::onnxruntime)
  execute_process(COMMAND ${PROJECT_SOURCE_DIR}/scripts/setup.sh --onnxruntime OUTPUT_VARIABLE harmonia_fetched
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  find_path(ONNXRUNTIME_INCLUDE_DIR onnxruntime_cxx_api.h PATH_SUFFIXES onnxruntime onnxruntime/core/session
    HINTS ${harmonia_fetched}/include)
  find_library(ONNXRUNTIME_LIBRARY onnxruntime HINTS ${harmonia_fetched}/lib)
  mark_as_advanced(ONNXRUNTIME_INCLUDE_DIR ONNXRUNTIME_LIBRARY)
  if(NOT ONNXRUNTIME_INCLUDE_DIR OR NOT ONNXRUNTIME_LIBRARY)
    message(STATUS "ONNX Runtime is not found: ONNX models are left out (scripts/setup.sh build fetches it)")
    return()
  endif()
  add_library(onnxruntime::onnxruntime SHARED IMPORTED)
  set_target_properties(onnxruntime::onnxruntime PROPERTIES IMPORTED_LOCATION ${ONNXRUNTIME_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${ONNXRUNTIME_INCLUDE_DIR})
  set(HARMONIA_ONNXRUNTIME_BUNDLED TRUE)
endif()
set(HARMONIA_HAS_ONNX TRUE)
set(HARMONIA_ONNXRUNTIME_TARGET onnxruntime::onnxruntime)
