# SPDX-License-Identifier: Apache-2.0
include(GNUInstallDirs)
install(TARGETS skitter skitter_shared skitter_static)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/skitter DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# The prefix is known only when it is installed: `make install PREFIX=…`.
set(SKITTER_INSTALLED_PREFIX @CMAKE_INSTALL_PREFIX@)
configure_file(${CMAKE_SOURCE_DIR}/cmake/skitter.pc.in ${CMAKE_BINARY_DIR}/skitter.pc.in @ONLY)
install(CODE "configure_file(\"${CMAKE_BINARY_DIR}/skitter.pc.in\" \"${CMAKE_BINARY_DIR}/skitter.pc\" @ONLY)")
install(FILES ${CMAKE_BINARY_DIR}/skitter.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
# For CMake: find_package(skitter), target skitter::skitter. It finds its own prefix.
include(CMakePackageConfigHelpers)
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/skitterConfig.cmake.in ${CMAKE_BINARY_DIR}/skitterConfig.cmake
    INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/skitter PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR
    NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/skitterConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/skitterConfig.cmake ${CMAKE_BINARY_DIR}/skitterConfigVersion.cmake
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/skitter)
if(NOT CMAKE_CROSSCOMPILING)
    install(FILES ${skitter_pages}/skitter.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    install(FILES ${skitter_pages}/skitter.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
        RENAME skitter)
    install(FILES ${skitter_pages}/_skitter DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
endif()
# The demo's models, by name: beside them may lie what runtimes made of them. docs/demo.md says where they are looked for.
if(EXISTS ${CMAKE_SOURCE_DIR}/share/models)
    install(FILES ${CMAKE_SOURCE_DIR}/share/models/demo-obb.pt ${CMAKE_SOURCE_DIR}/share/models/demo-pose.pt
        ${CMAKE_SOURCE_DIR}/share/models/README.md DESTINATION ${CMAKE_INSTALL_DATADIR}/skitter/models)
    install(DIRECTORY ${CMAKE_SOURCE_DIR}/share/models/demo-bottomup ${CMAKE_SOURCE_DIR}/share/models/onnx
        DESTINATION ${CMAKE_INSTALL_DATADIR}/skitter/models)
endif()
# The pages that help and messages cite, laid out as in the repository so that the links between them hold.
install(FILES ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/CHANGELOG.md ${CMAKE_SOURCE_DIR}/CONTRIBUTING.md
    ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/docs ${CMAKE_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${CMAKE_SOURCE_DIR}/bench/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/bench)
install(FILES ${CMAKE_SOURCE_DIR}/share/models/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/share/models OPTIONAL)
