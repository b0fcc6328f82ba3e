# The installed package: find_package(harmonia) gives the target harmonia::harmonia.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS harmonia EXPORT harmonia-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET harmonia_cli)
  install(TARGETS harmonia_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET harmonia_torch)
  install(TARGETS harmonia_torch LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(HARMONIA_ONNXRUNTIME_BUNDLED)
  # The library that was fetched goes along, into a folder of ours: it is no system-wide ONNX Runtime.
  get_filename_component(HARMONIA_ONNXRUNTIME_FILE ${ONNXRUNTIME_LIBRARY} REALPATH)
  # Under the name that programs look for, which is not the file's own where that has the whole version in it.
  get_filename_component(HARMONIA_ONNXRUNTIME_NAME ${HARMONIA_ONNXRUNTIME_FILE} NAME)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env LC_ALL=C ${CMAKE_READELF} -d ${HARMONIA_ONNXRUNTIME_FILE}
    OUTPUT_VARIABLE harmonia_dynamic ERROR_QUIET)
  if(harmonia_dynamic MATCHES "\\(SONAME\\)[^[]*\\[([^]]+)\\]")
    set(HARMONIA_ONNXRUNTIME_NAME ${CMAKE_MATCH_1})
  endif()
  install(FILES ${HARMONIA_ONNXRUNTIME_FILE} DESTINATION ${CMAKE_INSTALL_LIBDIR}/harmonia COMPONENT onnxruntime
    RENAME ${HARMONIA_ONNXRUNTIME_NAME})
  if(TARGET harmonia_cli)
    set_target_properties(harmonia_cli PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}/harmonia")
  endif()
elseif(TARGET harmonia_cli)
  set_target_properties(harmonia_cli PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
endif()
if(TARGET harmonia_python)
  include(python/install.cmake)
endif()
install(EXPORT harmonia-targets NAMESPACE harmonia:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/harmonia)
configure_package_config_file(cmake/harmonia-config.cmake.in harmonia-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/harmonia)
write_basic_package_version_file(harmonia-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/harmonia-config.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/harmonia-config-version.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/harmonia)
