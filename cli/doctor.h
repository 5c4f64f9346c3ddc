#pragma once

#include <string>

#include "cli/output.h"
#include "cli/paint.h"
#include "cli/streams.h"
#include "doctor/doctor.h"
#include "doctor/installation.h"
#include "kube/access.h"

namespace mindgate::cli {

struct DoctorOptions {
  kube::AccessFlags cluster;
  std::string selector = doctor::kInstalledSelector;  // of webhook configurations
  // Empty: as found by the selector.
  std::string ns = {};
  std::string name = {};
  std::string lease = {};
  std::string probe_namespace = doctor::Options().probe_namespace;
  OutputFormat output = "text";
  ColorMode color = ColorMode::kAuto;
};

// Prints what is wrong with the installation in a cluster, each with what to do about it. kExitDone
// when nothing is (warnings are no faults), kExitDenied when something is, kExitUnusable when the
// cluster cannot be found or holds several installations of which none was chosen.
int RunDoctor(const DoctorOptions& options, Streams& io);

}  // namespace mindgate::cli
