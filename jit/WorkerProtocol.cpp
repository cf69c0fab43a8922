#include "jit/WorkerProtocol.h"
#include "jit/ArtifactFile.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace plim::jit {

namespace {

constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;

Status systemError(const char *what) {
  StatusCode code =
      errno == ENOMEM || errno == EMFILE || errno == ENFILE || errno == ENOSPC || errno == EFBIG
          ? StatusCode::ResourceExhausted
          : StatusCode::Unavailable;
  return Status(code, std::string(what) + ": " + std::strerror(errno));
}

} // namespace

Descriptor::~Descriptor() {
  if (value >= 0)
    ::close(value);
}

StatusOr<Payload> Payload::create() {
  Payload payload;
  payload.memory = Descriptor(::memfd_create("plimsoll", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!payload.memory)
    return systemError("no memory to share with the compile worker");
  return payload;
}

Status Payload::append(std::string_view text) {
  if (!writeAll(memory.get(), text))
    return systemError("no memory to share with the compile worker");
  bytes += text.size();
  return okStatus();
}

Status Payload::seal() {
  if (::fcntl(memory.get(), F_ADD_SEALS, seals) != 0)
    return systemError("memory that is shared with the compile worker cannot be sealed");
  return okStatus();
}

StatusOr<Payload> payloadOf(std::string_view text) {
  PLIM_ASSIGN_OR_RETURN(Payload payload, Payload::create());
  PLIM_RETURN_IF_ERROR(payload.append(text));
  PLIM_RETURN_IF_ERROR(payload.seal());
  return payload;
}

Status sendMessage(int socket, Message message, const Payload *payload) {
  if (payload)
    message.payloadBytes = payload->size();
  iovec part{&message, sizeof message};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr header = {};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (payload) {
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    cmsghdr *rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    int descriptor = payload->descriptor();
    std::memcpy(CMSG_DATA(rights), &descriptor, sizeof descriptor);
  }
  while (::sendmsg(socket, &header, MSG_NOSIGNAL) < 0)
    if (errno != EINTR)
      return systemError("the compile worker cannot be reached");
  return okStatus();
}

StatusOr<std::optional<Received>> receiveMessage(int socket, int milliseconds) {
  pollfd waiting{socket, POLLIN, 0};
  int ready = ::poll(&waiting, 1, milliseconds);
  if (ready == 0 || (ready < 0 && errno == EINTR))
    return std::optional<Received>();
  Received received;
  iovec part{&received.message, sizeof received.message};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr header = {};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  ssize_t count = ::recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
  if (count <= 0)
    return unavailableError("the compile worker is gone");
  for (cmsghdr *rights = CMSG_FIRSTHDR(&header); rights; rights = CMSG_NXTHDR(&header, rights))
    if (rights->cmsg_level == SOL_SOCKET && rights->cmsg_type == SCM_RIGHTS) {
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(rights), sizeof descriptor);
      received.payload = Descriptor(descriptor);
    }
  if (count != sizeof received.message || (header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
    return dataLossError("what the compile worker says is no message");
  return std::optional(std::move(received));
}

Status Received::check() const {
  struct stat status;
  if (!payload || ::fcntl(payload.get(), F_GET_SEALS) != seals ||
      ::fstat(payload.get(), &status) != 0 ||
      static_cast<uint64_t>(status.st_size) != message.payloadBytes)
    return dataLossError("what the compile worker says has not the size that it should");
  return okStatus();
}

StatusOr<SharedBytes> Received::bytes() const {
  PLIM_RETURN_IF_ERROR(check());
  if (message.payloadBytes == 0)
    return SharedBytes();
  std::optional<SharedBytes> mapped = mapFile(payload.get(), message.payloadBytes);
  if (!mapped)
    return Status(StatusCode::ResourceExhausted,
                  "there is no memory for what the compile worker says");
  return std::move(*mapped);
}

StatusOr<std::string> Received::text() const {
  PLIM_ASSIGN_OR_RETURN(SharedBytes contents, bytes());
  return std::string(contents.bytes);
}

} // namespace plim::jit
