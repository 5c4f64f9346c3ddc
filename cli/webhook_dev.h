#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "cli/streams.h"

namespace mindgate::cli {

// What `webhook --dev` serves with: a temporary folder of the owner's alone with a CA (ca.crt), a
// serving pair for localhost and an AdmissionReview to send (review.json). The folder goes when
// this does.
class DevFolder {
 public:
  static Result<DevFolder> Make(Time now);
  ~DevFolder();
  DevFolder(DevFolder&& other) noexcept;
  DevFolder& operator=(DevFolder&& other) noexcept;

  const std::string& path() const { return path_; }

  // Removes the folder, as the destructor does: for a process that ends without one.
  void Remove() const;

  // Prints how to send it a review, and the clientConfig for an API server that reaches this
  // machine.
  void Explain(uint16_t port, uint16_t probe_port, Streams& io) const;

 private:
  DevFolder(std::string path, std::string authority);

  std::string path_;
  std::string authority_;  // PEM
};

}  // namespace mindgate::cli
