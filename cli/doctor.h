#pragma once

#include <string>

#include "cli/paint.h"
#include "cli/streams.h"
#include "doctor/doctor.h"
#include "kube/access.h"

namespace mindgate::cli {

struct DoctorOptions {
  kube::AccessFlags cluster;
  doctor::Options diagnosis;
  std::string output = "text";  // or "json"
  ColorMode color = ColorMode::kAuto;
};

// Prints what is wrong with the installation in a cluster, each with what to do about it. kExitDone
// when nothing is (warnings are no faults), kExitDenied when something is, kExitUnusable when the
// cluster cannot be found.
int RunDoctor(const DoctorOptions& options, Streams& io);

}  // namespace mindgate::cli
