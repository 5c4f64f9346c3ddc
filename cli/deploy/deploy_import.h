#pragma once

#include "cli/console/streams.h"
#include "cli/deploy/deploy.h"

namespace mindgate::cli {

// `deploy --import APP`: prints the configuration of an application that mindcluster-deploy's tool
// deployed, and on `io.err` what deploying it would change, field by field. Reads the cluster, or
// the objects in `options.file`; writes nothing. With -o json, both are one document.
int RunDeployImport(const DeployOptions& options, Streams& io);

}  // namespace mindgate::cli
