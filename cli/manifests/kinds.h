#pragma once

#include "cli/console/output.h"
#include "cli/console/paint.h"
#include "cli/console/streams.h"

namespace mindgate::cli {

struct KindsOptions {
  OutputFormat output = "table";
  ColorMode color = ColorMode::kAuto;
};

// Lists the kinds that mindgate handles (schemas/kinds.h): which profile of mindgate.yaml is
// theirs, what their controllers make, and which registration of the chart sends them.
int RunKinds(const KindsOptions& options, Streams& io);

}  // namespace mindgate::cli
