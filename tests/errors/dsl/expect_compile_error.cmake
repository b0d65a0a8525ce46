# Compiles a model that must not compile, and holds the compiler's output against what the model's own comments say:
# its line "// sentence: ..." must be quoted, and the line that ends in "// here" must be pointed to.
#
#   cmake -DCOMPILER=g++ -DFLAGS="-std=c++20;-Idsl" -DSOURCE=tests/errors/dsl/heads.cpp -P expect_compile_error.cmake
file(READ ${SOURCE} text)
if(NOT text MATCHES "// sentence: ([^\n]+)\n")
  message(FATAL_ERROR "${SOURCE}: a line '// sentence: ...' is missing")
endif()
set(sentence "${CMAKE_MATCH_1}")
string(FIND "${text}" "// here" here)
if(here EQUAL -1)
  message(FATAL_ERROR "${SOURCE}: no line ends in '// here'")
endif()
string(SUBSTRING "${text}" 0 ${here} before)
string(REGEX REPLACE "[^\n]" "" newlines "${before}")
string(LENGTH "${newlines}" line)
math(EXPR line "${line} + 1")

# Without a batch the declaration is not evaluated: then nothing else may be wrong with it.
execute_process(COMMAND ${COMPILER} ${FLAGS} -fsyntax-only ${SOURCE} RESULT_VARIABLE status ERROR_VARIABLE output)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "wrong for another reason than the one it is about:\n${output}")
endif()

execute_process(COMMAND ${COMPILER} ${FLAGS} -DBURIN_BATCH=2 -DBURIN_LENGTH=8 -fsyntax-only ${SOURCE}
  RESULT_VARIABLE status ERROR_VARIABLE output)
if(status EQUAL 0)
  message(FATAL_ERROR "${SOURCE} compiles, but must not")
endif()
foreach(expected IN ITEMS "error: " "${sentence}" "${SOURCE}:${line}:")
  string(FIND "${output}" "${expected}" found)
  if(found EQUAL -1)
    message(FATAL_ERROR "the compiler does not say '${expected}'; it says:\n${output}")
  endif()
endforeach()
