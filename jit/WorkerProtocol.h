// WorkerProtocol: what a host and its compile worker say to each other.
//
// Messages are datagrams of a sequenced-packet socket, so that none is ever seen in part, whatever happens to who
// writes it. What has no fixed size travels as memory of its own (memfd), whose descriptor goes with the message: text
// and constants are written once and mapped where they are read.
//
// Threads: a socket is read by one thread and written by one at a time.
#pragma once

#include "jit/DataBlock.h"
#include "support/Status.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace plim::jit {

/// The socket's number in the worker.
inline constexpr int workerSocket = 3;

enum class MessageKind : uint32_t {
  // To the worker
  Compile,    // payload: the source (numbers[0] bytes), then the request as JSON
  Stop,       // of the compilation that runs
  DeviceCode, // code: of the status; payload: what the device's compiler made, or said
  // From the worker
  Progress, // done, total; fraction
  Device,   // payload: device, name and text of a dispatch, as JSON
  Assembly, // payload: comes before an artifact
  Artifact, // objects, those from the cache; payload: serialised; seconds of CompileTimes
  Failed,   // code; payload: message
  Crashed, // numbers[0]: the signal, or 0 and numbers[1]: the exit code; payload: what it said and did last, as a Status
  Ir,      // payload: the stage, a zero, and the text; while it compiles
};

struct Message {
  MessageKind kind = MessageKind::Stop;
  StatusCode code = StatusCode::Ok;
  uint64_t numbers[2] = {0, 0};
  double seconds[4] = {0, 0, 0, 0};
  uint64_t payloadBytes = 0;
};

/// An open descriptor, closed in the end.
class Descriptor {
public:
  explicit Descriptor(int value = -1) : value(value) {}
  Descriptor(Descriptor &&other) noexcept : value(std::exchange(other.value, -1)) {}
  Descriptor &operator=(Descriptor &&other) noexcept {
    std::swap(value, other.value);
    return *this;
  }
  ~Descriptor();
  int get() const { return value; }
  /// It is no longer ours to close.
  void forget() { value = -1; }
  explicit operator bool() const { return value >= 0; }

private:
  int value;
};

/// Memory that is written here and read elsewhere.
class Payload {
public:
  /// Unavailable or ResourceExhausted if the system has none.
  static StatusOr<Payload> create();
  Status append(std::string_view bytes);
  /// Nobody can write or truncate it from now on.
  Status seal();
  int descriptor() const { return memory.get(); }
  uint64_t size() const { return bytes; }

private:
  Descriptor memory;
  uint64_t bytes = 0;
};

/// Text as a sealed payload.
StatusOr<Payload> payloadOf(std::string_view text);

/// Unavailable if nobody reads, or it cannot be sent. Never a signal.
Status sendMessage(int socket, Message message, const Payload *payload = nullptr);

struct Received {
  Message message;
  Descriptor payload; // none: it had no payload
  /// DataLoss unless there is a payload that is sealed, and as large as the message says.
  Status check() const;
  /// All of it, where it lies, if it is as check() wants it.
  StatusOr<SharedBytes> bytes() const;
  /// The same as a copy.
  StatusOr<std::string> text() const;
};

/// Waits for at most `milliseconds`, for ever if that is negative. Nothing: none came. Unavailable: the other side is
/// gone. DataLoss: what came is no message.
StatusOr<std::optional<Received>> receiveMessage(int socket, int milliseconds);

} // namespace plim::jit
