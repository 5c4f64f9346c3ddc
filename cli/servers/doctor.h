#pragma once

#include <string>

#include "cli/console/output.h"
#include "cli/console/paint.h"
#include "cli/console/streams.h"
#include "doctor/doctor.h"
#include "doctor/installation.h"
#include "kube/access.h"

namespace mindgate::cli {

struct DoctorOptions {
  kube::AccessFlags cluster;
  std::string selector = doctor::kInstalledSelector;  // for webhook configurations
  // Empty: found with the selector.
  std::string ns = {};
  std::string name = {};
  std::string lease = {};
  std::string probe_namespace = doctor::Options().probe_namespace;
  OutputFormat output = "text";
  ColorMode color = ColorMode::kAuto;
};

// Checks an installation and prints each problem with a fix. Returns kExitDone if there is none
// (warnings do not count), kExitDenied if there is one, kExitUnusable if the cluster cannot be
// reached or has several installations and none was selected.
int RunDoctor(const DoctorOptions& options, Streams& io);

}  // namespace mindgate::cli
