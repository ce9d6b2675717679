#include "trial_runner/training/process_group.h"

#include <ATen/Context.h>
#include <ATen/Functions.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/util/Exception.h>
#include <netdb.h>
#include <sys/socket.h>
#include <torch/version.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <torch/csrc/distributed/c10d/comm.hpp>
#include <utility>

#include "trial_runner/training/nccl_backend.h"

static_assert(TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR == 13,
              "c10d has no stable C++ interface: check every use before moving to another version");

namespace rung::training {
namespace {

constexpr std::size_t kBroadcastBufferBytes = std::size_t{25} << 20;
constexpr std::int64_t kTextBytesMax = std::int64_t{1} << 20;

std::optional<std::string> Variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

int IntegerVariable(const char* name, int fallback, int lowest, int highest) {
  const std::optional<std::string> text = Variable(name);
  if (!text) return fallback;
  int value = 0;
  const char* end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, value);
  if (error != std::errc() || stop != end || value < lowest || value > highest) {
    throw TrainingError(std::string(name) + ": must be an integer from " + std::to_string(lowest) +
                        " to " + std::to_string(highest) + ", found '" + *text + "'");
  }
  return value;
}

/// The addresses of `host`, freed with the object.
class Addresses {
 public:
  Addresses(const std::string& host, std::uint16_t port) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_DGRAM;
    const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &first_);
    if (error != 0) {
      throw TrainingError("MASTER_ADDR: cannot resolve '" + host + "': " + ::gai_strerror(error));
    }
  }
  ~Addresses() { ::freeaddrinfo(first_); }
  Addresses(const Addresses&) = delete;
  Addresses& operator=(const Addresses&) = delete;
  const addrinfo& first() const { return *first_; }

 private:
  addrinfo* first_ = nullptr;
};

/// The numeric address of this machine on the route to the master: loopback when it is this
/// machine's loopback, never a host name that the peers might resolve otherwise. Connecting a
/// datagram socket sends nothing.
std::string AddressTowards(const std::string& host, std::uint16_t port) {
  const Addresses addresses(host, port);
  const addrinfo& target = addresses.first();
  const int probe = ::socket(target.ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_storage local{};
  socklen_t length = sizeof(local);
  char text[NI_MAXHOST] = "";
  const bool found = probe >= 0 && ::connect(probe, target.ai_addr, target.ai_addrlen) == 0 &&
                     ::getsockname(probe, reinterpret_cast<sockaddr*>(&local), &length) == 0 &&
                     ::getnameinfo(reinterpret_cast<const sockaddr*>(&local), length, text,
                                   sizeof(text), nullptr, 0, NI_NUMERICHOST) == 0;
  const int error = errno;
  if (probe >= 0) ::close(probe);
  if (!found) {
    throw TrainingError("MASTER_ADDR: no route to '" + host + "': " + std::strerror(error));
  }
  return text;
}

c10::Device ChooseDevice(const RankEnvironment& environment, ProcessGroup::DeviceChoice choice) {
  const bool linked = LinkedNcclBackend() != nullptr;
  const bool wanted = choice == ProcessGroup::DeviceChoice::kGpu ||
                      (choice == ProcessGroup::DeviceChoice::kAuto && linked);
  if (!wanted) return c10::Device(c10::kCPU);
  const std::size_t count = linked && at::hasCUDA() ? at::getNumGPUs() : 0;
  if (count == 0) {
    if (choice == ProcessGroup::DeviceChoice::kAuto) return c10::Device(c10::kCPU);
    throw TrainingError(linked ? "a GPU was asked for, but LibTorch sees none"
                               : "a GPU was asked for, but this program was built without CUDA: "
                                 "link it with rung_training_gpu");
  }
  // The launcher shows either all GPUs of this machine's ranks, or to each rank its own.
  const std::size_t index = count == 1 ? 0 : static_cast<std::size_t>(environment.local_rank);
  if (index >= count) {
    throw TrainingError("LOCAL_RANK: " + std::to_string(index) + ", but only " +
                        std::to_string(count) + " GPUs are visible");
  }
  const c10::Device device(c10::kCUDA, static_cast<c10::DeviceIndex>(index));
  c10::impl::VirtualGuardImpl(c10::kCUDA).setDevice(device);
  return device;
}

c10::intrusive_ptr<c10d::Store> OpenStore(const RankEnvironment& environment,
                                          std::chrono::milliseconds timeout) {
  if (environment.master_addr.empty() || environment.master_port == 0) {
    throw TrainingError("WORLD_SIZE is " + std::to_string(environment.world_size) +
                        ", so MASTER_ADDR and MASTER_PORT must be set");
  }
  c10d::TCPStoreOptions options;
  options.port = environment.master_port;
  options.isServer = environment.rank == 0 && !environment.agent_store;
  options.waitWorkers = false;  // the backend's own handshake waits for everybody
  options.timeout = timeout;
  const auto store = c10::make_intrusive<c10d::TCPStore>(environment.master_addr, options);
  return c10::make_intrusive<c10d::PrefixStore>(
      "rung/attempt_" + std::to_string(environment.attempt), store);
}

c10::intrusive_ptr<c10d::Backend> MakeGlooBackend(const RankEnvironment& environment,
                                                  const c10::intrusive_ptr<c10d::Store>& store,
                                                  std::chrono::milliseconds timeout) {
  auto options = c10d::ProcessGroupGloo::Options::create(timeout);
  const std::optional<std::string> interface = Variable("GLOO_SOCKET_IFNAME");
  options->devices.push_back(
      interface ? c10d::ProcessGroupGloo::createDeviceForInterface(*interface)
                : c10d::ProcessGroupGloo::createDeviceForHostname(
                      AddressTowards(environment.master_addr, environment.master_port)));
  return c10::make_intrusive<c10d::ProcessGroupGloo>(store, environment.rank,
                                                     environment.world_size, options);
}

}  // namespace

NcclBackendFactory& LinkedNcclBackend() {
  static NcclBackendFactory factory = nullptr;
  return factory;
}

RankEnvironment RankEnvironment::FromEnvironment() {
  constexpr int kRanksMax = 1 << 20;
  RankEnvironment environment;
  environment.world_size = IntegerVariable("WORLD_SIZE", 1, 1, kRanksMax);
  environment.rank = IntegerVariable("RANK", 0, 0, environment.world_size - 1);
  environment.local_rank = IntegerVariable("LOCAL_RANK", 0, 0, environment.world_size - 1);
  environment.master_addr = Variable("MASTER_ADDR").value_or("");
  environment.master_port = static_cast<std::uint16_t>(IntegerVariable("MASTER_PORT", 0, 1, 65535));
  environment.attempt = IntegerVariable("TORCHELASTIC_RESTART_COUNT", 0, 0, kRanksMax);
  environment.agent_store = Variable("TORCHELASTIC_USE_AGENT_STORE") == "True";
  return environment;
}

struct ProcessGroup::State {
  RankEnvironment environment;
  std::chrono::milliseconds timeout;
  c10::Device device{c10::kCPU};
  c10::intrusive_ptr<c10d::Store> store;         // null in a world of 1
  c10::intrusive_ptr<c10d::Store> patient;       // a connection of its own: a wait blocks others
  c10::intrusive_ptr<c10d::ProcessGroup> group;  // null in a world of 1 and after the end
  bool ended = false;
  std::int64_t awaited = 0;  // calls of AwaitRankZero

  /// For a collective of a world of more than 1.
  const c10::intrusive_ptr<c10d::ProcessGroup>& Group() const {
    if (ended) throw TrainingError("a collective after the process group's end");
    return group;
  }
  /// In place, of a tensor on the host.
  void AllReduce(const at::Tensor& tensor, c10d::ReduceOp::RedOpType operation) const {
    std::vector<at::Tensor> tensors = {tensor};
    c10d::AllreduceOptions options;
    options.reduceOp = operation;
    Group()->allreduce(tensors, options)->wait();
  }
  void BroadcastHost(const at::Tensor& tensor) const {
    std::vector<at::Tensor> tensors = {tensor};
    Group()->broadcast(tensors)->wait();
  }
};

ProcessGroup::ProcessGroup(std::unique_ptr<State> state) : state_(std::move(state)) {}

ProcessGroup::~ProcessGroup() {
  if (!state_->ended) Abort();
}

std::unique_ptr<ProcessGroup> ProcessGroup::Connect(const RankEnvironment& environment,
                                                    Options options) {
  auto state = std::make_unique<State>();
  state->environment = environment;
  state->timeout = options.timeout;
  state->device = ChooseDevice(environment, options.device);
  if (environment.world_size > 1) {
    state->store = OpenStore(environment, options.timeout);
    state->group = c10::make_intrusive<c10d::ProcessGroup>(state->store, environment.rank,
                                                           environment.world_size);
    // Counts, flags and texts stay on the host and travel by Gloo, also beside NCCL: reading them
    // then never waits for the GPU.
    state->group->setBackend(c10::kCPU, c10d::ProcessGroup::GLOO,
                             MakeGlooBackend(environment, state->store, options.timeout));
    state->group->setDefaultBackend(c10d::ProcessGroup::GLOO);
    if (state->device.is_cuda()) {
      state->group->setBoundDeviceId(state->device);
      state->group->setBackend(
          c10::kCUDA, c10d::ProcessGroup::NCCL,
          LinkedNcclBackend()(state->store, environment.rank, environment.world_size, state->device,
                              options.timeout));
      state->group->setDefaultBackend(c10d::ProcessGroup::NCCL);
    }
    state->group->setGroupName("rung");
    state->patient = state->store->clone();
  }
  return std::unique_ptr<ProcessGroup>(new ProcessGroup(std::move(state)));
}

int ProcessGroup::rank() const { return state_->environment.rank; }
int ProcessGroup::world_size() const { return state_->environment.world_size; }
c10::Device ProcessGroup::device() const { return state_->device; }
c10d::ProcessGroup* ProcessGroup::torch_group() const { return state_->group.get(); }

std::vector<double> ProcessGroup::AllReduceSums(std::span<const double> values) {
  std::vector<double> sums(values.begin(), values.end());
  if (world_size() == 1 || sums.empty()) return sums;
  const at::Tensor tensor =
      at::from_blob(sums.data(), {static_cast<std::int64_t>(sums.size())}, at::kDouble).clone();
  state_->AllReduce(tensor, c10d::ReduceOp::SUM);
  std::memcpy(sums.data(), tensor.const_data_ptr(), sums.size() * sizeof(double));
  return sums;
}

ProcessGroup::Extremes ProcessGroup::AllReduceExtremes(std::span<const std::int64_t> values) {
  Extremes extremes{{values.begin(), values.end()}, {values.begin(), values.end()}};
  if (world_size() == 1 || values.empty()) return extremes;
  // One maximum finds both: ~x reverses the order of int64 without overflow, so min x = ~max ~x.
  const std::size_t count = values.size();
  std::vector<std::int64_t> both(values.begin(), values.end());
  for (const std::int64_t value : values) both.push_back(~value);
  const at::Tensor tensor =
      at::from_blob(both.data(), {static_cast<std::int64_t>(both.size())}, at::kLong).clone();
  state_->AllReduce(tensor, c10d::ReduceOp::MAX);
  const std::int64_t* reduced = tensor.const_data_ptr<std::int64_t>();
  for (std::size_t i = 0; i < count; ++i) {
    extremes.max[i] = reduced[i];
    extremes.min[i] = ~reduced[count + i];
  }
  return extremes;
}

void ProcessGroup::Broadcast(std::span<const NamedTensor> tensors) {
  if (world_size() == 1 || tensors.empty()) return;
  std::vector<at::Tensor> detached;  // writes in place, outside the autograd graph
  for (const NamedTensor& named : tensors) detached.push_back(named.tensor.detach());
  c10d::broadcast_coalesced(state_->Group(), detached, kBroadcastBufferBytes);
}

std::string ProcessGroup::BroadcastText(const std::string& text) {
  if (world_size() == 1) return text;
  if (static_cast<std::int64_t>(text.size()) > kTextBytesMax) {
    throw TrainingError("cannot broadcast a text of " + std::to_string(text.size()) +
                        " bytes, at most " + std::to_string(kTextBytesMax));
  }
  const at::Tensor length = at::full({1}, static_cast<std::int64_t>(text.size()), at::kLong);
  state_->BroadcastHost(length);
  const at::Tensor bytes = at::zeros({length.item<std::int64_t>()}, at::kByte);
  if (bytes.numel() == 0) return "";
  if (rank() == 0) std::memcpy(bytes.mutable_data_ptr(), text.data(), text.size());
  state_->BroadcastHost(bytes);
  return {static_cast<const char*>(bytes.const_data_ptr()), bytes.nbytes()};
}

void ProcessGroup::Barrier() { AllReduceSums(std::vector<double>{0.0}); }

void ProcessGroup::AwaitRankZero() {
  if (world_size() == 1) return;
  const std::string key = "rank_zero_done_" + std::to_string(state_->awaited++);
  if (rank() == 0) state_->patient->set(key, std::vector<std::uint8_t>{1});
  const auto until = std::chrono::steady_clock::now() + kRankZeroWait;
  for (bool done = rank() == 0; !done;) {
    try {
      state_->patient->wait({key}, state_->timeout);
      done = true;
    } catch (const c10::DistStoreError&) {  // it answers, so rank 0 lives: it is not done yet
      if (std::chrono::steady_clock::now() >= until) throw;
    }
  }
  Barrier();
  if (rank() == 0) state_->patient->deleteKey(key);
}

void ProcessGroup::Shutdown() {
  if (state_->ended) return;
  if (state_->group) {
    Barrier();
    // Whoever serves the store leaves last, so that nobody's last answer is cut off.
    const std::int64_t left = state_->store->add("left", 1);
    if (left == world_size()) state_->store->set("all_left", std::vector<std::uint8_t>{1});
    if (rank() == 0) state_->store->wait({"all_left"}, state_->timeout);
    state_->group->shutdown();
  }
  state_->ended = true;
  state_->group.reset();
  state_->patient.reset();
  state_->store.reset();
}

void ProcessGroup::Abort() {
  if (state_->ended) return;
  state_->ended = true;
  if (!state_->group) return;
  if (state_->device.is_cuda()) state_->group->abort();
  // Destroying a Gloo group would wait for collectives in flight, which may wait for a dead peer.
  // The process is about to end, and its sockets with it: that is what tells the peers.
  state_->group.release();
  state_->patient.release();
  state_->store.release();
}

}  // namespace rung::training
