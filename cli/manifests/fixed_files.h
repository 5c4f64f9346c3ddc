#pragma once

#include "base/result.h"
#include "offline/fix.h"

namespace mindgate::cli {

// Replaces a file by its fixed text, whole or not at all, with its mode and owner. Of a symbolic
// link the file that it leads to is replaced. Fails when the file has changed since it was read, is
// read-only, or is not a regular file.
Result<void> WriteFixed(const offline::FixedFile& file);

}  // namespace mindgate::cli
