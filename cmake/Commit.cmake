# Writes the commit of the source into HEADER, where it has changed: cmake -DSOURCE=... -DHEADER=... -P cmake/Commit.cmake
# Where there is no repository, as in the build of an image, the environment has it as MINDGATE_COMMIT.
set(commit "$ENV{MINDGATE_COMMIT}")
if(NOT commit)
  execute_process(COMMAND git -C ${SOURCE} describe --always --abbrev=12 --exclude=* --dirty=+changes
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT commit MATCHES "^[0-9a-f]+([+]changes)?$")
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${HEADER} CONTENT "#define MINDGATE_COMMIT \"${commit}\"\n")
