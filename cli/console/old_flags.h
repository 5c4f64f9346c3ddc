#pragma once

#include <string>
#include <vector>

namespace mindgate::cli {

// The arguments of `status` and `delete` as the deploy tool of mindcluster-deploy takes them in
// ours: there -n and --app-name name the application and -ns the namespace. CLI11, like every
// parser of POSIX flags, reads -ns as -n with the value "s". Arguments with neither -ns nor
// --app-name are left alone: in those -n is the namespace, as in kubectl.
std::vector<std::string> WithoutOldFlags(const std::vector<std::string>& arguments);

}  // namespace mindgate::cli
