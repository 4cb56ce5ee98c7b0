# Compiles each installed header alone: cmake -DCXX=... -DINCLUDES=... -P
# CompileHeaders.cmake. Whatever a header needs, it includes, and nothing that is
# not installed.
set(root ${INCLUDES})
file(GLOB_RECURSE headers RELATIVE ${root} ${root}/*.h)
list(LENGTH headers count)
if(count LESS 20)
  message(FATAL_ERROR "expected 20 headers or more in ${root}, but got ${count}")
endif()
foreach(header IN LISTS headers)
  execute_process(
    COMMAND ${CXX} -std=c++17 -fsyntax-only -Wall -Wextra -Werror -x c++ -I ${root}
      -include ${root}/${header} /dev/null
    RESULT_VARIABLE failed ERROR_VARIABLE errors)
  if(failed)
    message(SEND_ERROR "${header} does not compile alone:\n${errors}")
  endif()
endforeach()
message(STATUS "${count} headers compile alone")
