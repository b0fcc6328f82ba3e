# The report's page: web/ bundled into the library. Without node and npm, or the packages they bring, the build goes
# on, and `harmonia report` says what is missing.
option(HARMONIA_WITH_REPORT "Bundle the report's page into the library (needs node and npm)" ON)

set(HARMONIA_REPORT_DIR ${PROJECT_BINARY_DIR}/web)
set(HARMONIA_REPORT_ASSETS ${HARMONIA_REPORT_DIR}/report_assets.cpp)
if(HARMONIA_WITH_REPORT)
  file(GLOB HARMONIA_WEB_SOURCES CONFIGURE_DEPENDS web/src/*)
  # The script leaves `complete` out if it could not bundle, so that the next build tries again.
  add_custom_command(OUTPUT ${HARMONIA_REPORT_ASSETS} ${HARMONIA_REPORT_DIR}/complete
    COMMAND ${PROJECT_SOURCE_DIR}/web/bundle.sh ${HARMONIA_REPORT_DIR}
    DEPENDS ${HARMONIA_WEB_SOURCES} web/bundle.sh web/embed.mjs web/no_assets.cpp.in web/package.json
      web/package-lock.json web/.npmrc web/tsconfig.json
    COMMENT "Bundling the report's page" VERBATIM)
else()
  set(REASON "it was built with HARMONIA_WITH_REPORT=OFF")
  configure_file(web/no_assets.cpp.in ${HARMONIA_REPORT_ASSETS} @ONLY)
endif()
target_sources(harmonia PRIVATE ${HARMONIA_REPORT_ASSETS})
set_source_files_properties(${HARMONIA_REPORT_ASSETS} PROPERTIES INCLUDE_DIRECTORIES ${PROJECT_SOURCE_DIR}/src/report)
