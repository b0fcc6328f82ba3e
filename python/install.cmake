# What a wheel holds besides the Python files: the extension, and ONNX Runtime beside it if it was fetched for us.
install(TARGETS harmonia_python LIBRARY DESTINATION harmonia COMPONENT python)
if(HARMONIA_ONNXRUNTIME_BUNDLED)
  install(FILES ${HARMONIA_ONNXRUNTIME_FILE} DESTINATION harmonia COMPONENT python RENAME ${HARMONIA_ONNXRUNTIME_NAME})
  set_target_properties(harmonia_python PROPERTIES INSTALL_RPATH "$ORIGIN")
else()
  set_target_properties(harmonia_python PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
endif()
