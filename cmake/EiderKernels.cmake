# eider_add_kernels(TARGET
#   OPS op-or-file.mlir…     what `eider build` takes
#   ARCHS sm_80 sm_90a…      the GPUs
#   [PARAMS --block 1x128 --dim hidden=7168 …]   of all the ops
#   [NAMES name…]            of the C functions, one an op; else the op's, or the file's without .mlir
#   [EMIT cu ptx cubin fatbin…])                 more files, beside the C ones
#
# A static C library of one NAME.h and NAME.c an op, made when the project is built. Who links TARGET includes "NAME.h" and
# needs nothing of Eider or CUDA. The project must have the language C.
#
# Tuning records of the targets count, as for `eider build`: EIDER_TUNING=off in the environment of the build leaves them
# out, EIDER_TUNING=table-only takes those of a file.
function(eider_add_kernels target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "OPS;ARCHS;PARAMS;NAMES;EMIT")
  foreach(needed OPS ARCHS)
    if(NOT arg_${needed})
      message(FATAL_ERROR "eider_add_kernels(${target}): give ${needed}")
    endif()
  endforeach()
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "eider_add_kernels(${target}): unknown argument ${arg_UNPARSED_ARGUMENTS}; "
                        "it takes OPS, ARCHS, PARAMS, NAMES and EMIT")
  endif()
  list(LENGTH arg_OPS ops)
  list(LENGTH arg_NAMES names)
  if(names AND NOT names EQUAL ops)
    message(FATAL_ERROR "eider_add_kernels(${target}): ${names} NAMES for ${ops} OPS; give one an op, or none")
  endif()
  list(JOIN arg_ARCHS "," archs)
  list(PREPEND arg_EMIT header)
  list(JOIN arg_EMIT "," kinds)
  set(directory ${CMAKE_CURRENT_BINARY_DIR}/${target}.eider)

  set(sources "")
  foreach(op IN LISTS arg_OPS)
    get_filename_component(name ${op} NAME_WE)
    if(names)
      list(POP_FRONT arg_NAMES name)
    endif()
    set(file "")
    if(op MATCHES "\\.mlir$")
      get_filename_component(file ${op} ABSOLUTE)
      set(op ${file})
    endif()
    add_custom_command(
      OUTPUT ${directory}/${name}.h ${directory}/${name}.c
      COMMAND Eider::program build ${op} ${arg_PARAMS} --arch ${archs} --emit ${kinds}
              --name ${name} -o ${directory}
      DEPENDS ${file} Eider::program
      COMMENT "Eider: ${name} for ${archs}"
      VERBATIM)
    list(APPEND sources ${directory}/${name}.h ${directory}/${name}.c)
  endforeach()

  add_library(${target} STATIC ${sources})
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${directory}>)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS})
endfunction()
