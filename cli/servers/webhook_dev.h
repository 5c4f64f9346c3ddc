#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "cli/console/streams.h"

namespace mindgate::cli {

// The files of `webhook --dev`: a private temporary folder with a CA (ca.crt), a serving
// certificate and key for localhost, and a sample AdmissionReview (review.json). Removed on
// destruction.
class DevFolder {
 public:
  static Result<DevFolder> Make(Time now);
  ~DevFolder();
  DevFolder(DevFolder&& other) noexcept;
  DevFolder& operator=(DevFolder&& other) noexcept;

  const std::string& path() const { return path_; }

  // Removes the folder, for a process that exits without running destructors.
  void Remove() const;

  // Prints how to send a review, and the clientConfig for an API server on this machine.
  void Explain(uint16_t port, uint16_t probe_port, Streams& io) const;

 private:
  DevFolder(std::string path, std::string authority);

  std::string path_;
  std::string authority_;  // PEM
};

}  // namespace mindgate::cli
