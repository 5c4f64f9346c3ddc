#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "json/decode.h"
#include "json/value.h"
#include "kube/client.h"
#include "kube/resource.h"
#include "schemas/kinds.h"
#include "schemas/site_kinds.h"
#include "why/facts.h"

// The object that is asked about, what owns it and what it owns.
namespace mindgate::why {

struct Subject {
  schemas::KindInfo info;
  schemas::SiteKinds site{};  // the kinds of the cluster's configuration
  kube::Resource resource;
  json::Document object;  // metadata without managedFields, spec and status
  std::string ns{};
  std::string name{};
};

using KindRows = std::vector<const schemas::KindInfo*>;

// The first of these kinds, built in or of `site`, that has an object of that name: "jobs" are two.
// kNotFound: none has.
kube::Answer<Subject> FindSubject(kube::Client& client, const KindRows& kinds,
                                  const schemas::SiteKinds& site, const std::string& ns,
                                  const std::string& name, const std::stop_token& stop = {});

// The names of these kinds in a namespace, for hints: the first few hundred.
std::vector<std::string> NamesThere(kube::Client& client, const KindRows& kinds,
                                    const std::string& ns, const std::stop_token& stop = {});

// How many pods it asks for, whether it is suspended, has ended or is being deleted, or failed and
// why.
void ReadState(schemas::Kind kind, const json::Value& object, Facts& facts);

// Whether it, an owner of it or its namespace opts out of rescheduling; the chain of its owners.
void ReadOwners(kube::Client& client, const Subject& subject, Facts& facts,
                const std::stop_token& stop);

// Whether an object with one of these uids owns it.
bool HasOwnerIn(const json::Value& object, const std::set<std::string>& uids);

// The uids of the subject and of all that its controllers made of it but pods.
std::set<std::string> ReadChildren(kube::Client& client, const Subject& subject, Facts& facts,
                                   const std::stop_token& stop);

// Notes that something could not be read, unless the cluster does not have it.
void NoteUnread(Facts& facts, const std::string& what, const kube::Fault& fault);

}  // namespace mindgate::why
