#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "deploy/application.h"
#include "kube/client.h"

// The configurations that an application was deployed with, newest kMaxRevisions of them. Each is a
// ConfigMap in its namespace, "mindgate-deploy.chat.3", which holds the file as it was written.
namespace mindgate::deploy {

inline constexpr size_t kMaxRevisions = 10;
// A file of an application has a few KB, and etcd takes 1.5 MiB.
inline constexpr size_t kMaxRevisionBytes = 256UL * 1024;

struct Revision {
  int64_t number = 0;
  std::string time;       // RFC 3339
  std::string by;         // as Hold's identity
  std::string framework;  // with which it was read
  std::string outcome;    // kDeployed or kNotDeployed
  std::string note = {};  // "rollback to revision 3"
};
inline constexpr const char* kDeployed = "deployed";
inline constexpr const char* kNotDeployed = "failed";  // a part of it may have been written

// Without the files, oldest first.
kube::Answer<std::vector<Revision>> Revisions(kube::Client& client, const std::string& ns,
                                              const std::string& app, const std::stop_token& stop);

// The file of one. kNotFound when there is none.
kube::Answer<std::string> FileOf(kube::Client& client, const std::string& ns,
                                 const std::string& app, int64_t number,
                                 const std::stop_token& stop);

// Of `revisions`, the newest that was deployed with another file than the newest of all; nothing:
// there is none.
kube::Answer<std::optional<int64_t>> RevisionBefore(kube::Client& client, const std::string& ns,
                                                    const std::string& app,
                                                    const std::vector<Revision>& revisions,
                                                    const std::stop_token& stop);

// Keeps a revision, whose number it chooses, and deletes the oldest beyond kMaxRevisions. The
// number; that of the newest where it has the same file and outcome. The fault says why it is not
// kept, which changes nothing about what was deployed.
kube::Answer<int64_t> KeepRevision(kube::Client& client, const std::string& ns,
                                   const std::string& app, const Revision& revision,
                                   const std::string& file, const std::stop_token& stop);

// Deletes all revisions of an application.
kube::Answer<void> ForgetRevisions(kube::Client& client, const std::string& ns,
                                   const std::string& app, const std::stop_token& stop);

}  // namespace mindgate::deploy
