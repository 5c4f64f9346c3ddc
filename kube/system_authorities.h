#pragma once

#include <string>

namespace mindgate::kube {

// The file with the certificates that the system trusts, below `root`; empty where there is none.
// libcurl knows one place, that of the distribution that it was built on, and a released program
// runs on others.
std::string SystemAuthoritiesBelow(const std::string& root);

// That of this system, searched once.
const std::string& SystemAuthorities();

}  // namespace mindgate::kube
