# Writes a C++ file that defines flashtile::compilerBuildId, a digest of files:
#   cmake -DOUTPUT=BuildId.cpp -P WriteBuildId.cmake -- archives...
# Archives are written without times, so that only a change of code or of debug
# information changes the digest.
set(digests "")
set(is_file FALSE)
foreach(i RANGE 1 ${CMAKE_ARGC})
  if(is_file AND i LESS CMAKE_ARGC)
    file(SHA256 "${CMAKE_ARGV${i}}" digest)
    string(APPEND digests "${digest}\n")
  elseif("${CMAKE_ARGV${i}}" STREQUAL "--")
    set(is_file TRUE)
  endif()
endforeach()
if(digests STREQUAL "")
  message(FATAL_ERROR "expected the libraries of the compiler behind --")
endif()
string(SHA256 digest "${digests}")
file(CONFIGURE OUTPUT "${OUTPUT}" @ONLY CONTENT [[
#include "runtime/BuildId.h"

const char *const flashtile::compilerBuildId = "@digest@";
]])
