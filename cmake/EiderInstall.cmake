# What `cmake --install` puts under a prefix: the programs, three shared libraries with nothing of their insides exported, the
# headers, and the CMake package. Nothing in it knows the prefix: it may be moved.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# eider_add_shared(NAME OUTPUT_NAME ROOMS…): the rooms' objects as one library; what comes out of archives is exported by nobody.
function(eider_add_shared name output)
  list(TRANSFORM ARGN REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
  add_library(${name} SHARED ${objects})
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX OUTPUT_NAME ${output})
  target_link_libraries(${name} PUBLIC eider_headers PRIVATE eider_simulator Threads::Threads ${CMAKE_DL_LIBS})
  target_link_options(${name} PRIVATE -Wl,--exclude-libs,ALL -Wl,-z,defs -s)
endfunction()

set(runtime_rooms eider_runtime eider_contract eider_host_module eider_simulator eider_templates eider_aot)
eider_add_shared(eider_runtime_shared eider_runtime ${runtime_rooms})
# All of Eider holds the runtime too, since the JIT uses its insides: a program links this or the runtime alone.
eider_add_shared(eider_shared eider ${runtime_rooms} eider_jit)
target_link_libraries(eider_shared PUBLIC eider_compiler PRIVATE ${EIDER_SQLITE_LIBRARY} m)

set(programs eider eider-opt eider-worker)
set(libraries eider_compiler eider_runtime_shared eider_shared)
file(RELATIVE_PATH libraries_from_programs ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
set_target_properties(${programs} PROPERTIES INSTALL_RPATH "$ORIGIN/${libraries_from_programs}")
set_target_properties(${libraries} PROPERTIES INSTALL_RPATH "$ORIGIN")
set_target_properties(eider PROPERTIES EXPORT_NAME program)
set_target_properties(eider_headers PROPERTIES EXPORT_NAME headers)
set_target_properties(eider_compiler PROPERTIES EXPORT_NAME compiler)
set_target_properties(eider_runtime_shared PROPERTIES EXPORT_NAME runtime)
set_target_properties(eider_shared PROPERTIES EXPORT_NAME eider)

install(TARGETS ${programs} ${libraries} eider_headers EXPORT EiderTargets
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
foreach(room runtime compiler autotuner)
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/${room}/include/eider DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endforeach()
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE ${CMAKE_SOURCE_DIR}/NOTICE DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/Eider)
install(EXPORT EiderTargets NAMESPACE Eider:: DESTINATION ${package})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/EiderConfig.cmake.in ${CMAKE_BINARY_DIR}/EiderConfig.cmake
                              INSTALL_DESTINATION ${package})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/EiderConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/EiderConfig.cmake ${CMAKE_BINARY_DIR}/EiderConfigVersion.cmake
              ${CMAKE_CURRENT_LIST_DIR}/EiderKernels.cmake DESTINATION ${package})
