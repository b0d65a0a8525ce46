// Streams, events, graphs: in which order work is done, and when.
#include "state.h"

namespace simt {

CUresult findStream(Context &context, CUstream handle, std::shared_ptr<Stream> &stream) {
  if (reinterpret_cast<uintptr_t>(handle) <= 1) { // the default stream has two names
    stream = context.defaultStream;
    return CUDA_SUCCESS;
  }
  const auto found = context.streams.find(reinterpret_cast<Stream *>(handle));
  if (found == context.streams.end())
    return CUDA_ERROR_INVALID_HANDLE;
  stream = found->second;
  return CUDA_SUCCESS;
}

static CUresult invalidate(Capture &capture, CUresult error) {
  capture.invalid = true;
  return error;
}

CUresult refuseWhileCapturing(Context &context) {
  CUresult result = CUDA_SUCCESS;
  for (const std::shared_ptr<Capture> &capture : context.captures)
    if (capture->mode != CAPTURE_RELAXED)
      result = invalidate(*capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  return result;
}

CUresult give(Context &context, const std::shared_ptr<Stream> &stream, std::function<CUresult()> run) {
  if (stream->capture) {
    if (stream->capture->invalid)
      return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    const size_t index = stream->capture->nodes.size();
    stream->capture->nodes.push_back({std::move(run), stream->frontier});
    stream->frontier = {index};
    return CUDA_SUCCESS;
  }
  Work work = {std::move(run), {}};
  if (stream == context.defaultStream) {
    for (const auto &[key, other] : context.streams)
      if (other->blocking) {
        if (other->capture)
          return invalidate(*other->capture, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
        work.after.emplace_back(other, other->given);
      }
  } else if (stream->blocking) {
    work.after.emplace_back(context.defaultStream, context.defaultStream->given);
  }
  stream->queue.push_back(std::move(work));
  ++stream->given;
  // A program that never waits must not fill the memory of the host.
  return stream->queue.size() > 65536 ? drain(context, *stream) : CUDA_SUCCESS;
}

CUresult drain(Context &context, Stream &stream, uint64_t until) {
  while (!stream.queue.empty() && stream.done < until) {
    if (context.error)
      return context.error;
    const Work work = std::move(stream.queue.front());
    stream.queue.pop_front();
    for (const auto &[other, count] : work.after)
      if (other->done < count)
        drain(context, *other, count);
    if (!context.error)
      context.error = work.run();
    ++stream.done;
  }
  return context.error;
}

CUresult drainAll(Context &context) {
  drain(context, *context.defaultStream);
  for (const auto &[key, stream] : context.streams)
    drain(context, *stream);
  return context.error;
}

} // namespace simt

using namespace simt;

SIMT_API cuStreamCreate(CUstream *stream, unsigned flags) {
  SIMT_ENTER
  if (!stream || flags > 1)
    return CUDA_ERROR_INVALID_VALUE;
  auto made = std::make_shared<Stream>();
  made->blocking = !(flags & 1);
  *stream = reinterpret_cast<CUstream>(made.get());
  context->streams[made.get()] = std::move(made);
  return CUDA_SUCCESS;
}

SIMT_API cuStreamDestroy_v2(CUstream handle) {
  SIMT_ENTER
  std::shared_ptr<Stream> stream;
  if (reinterpret_cast<uintptr_t>(handle) <= 1)
    return CUDA_ERROR_INVALID_HANDLE;
  if (const CUresult result = findStream(*context, handle, stream))
    return result;
  // Returns at once in the real driver and lets the work finish.
  drain(*context, *stream);
  context->streams.erase(stream.get());
  return context->error;
}

SIMT_API cuStreamSynchronize(CUstream handle) {
  SIMT_ENTER
  std::shared_ptr<Stream> stream;
  if (const CUresult result = findStream(*context, handle, stream))
    return result;
  if (stream->capture)
    return invalidate(*stream->capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  if (stream == context->defaultStream)
    for (const auto &[key, other] : context->streams)
      if (other->blocking)
        drain(*context, *other);
  return drain(*context, *stream);
}

SIMT_API cuEventCreate(CUevent *event, unsigned flags) {
  SIMT_ENTER
  if (!event || flags > 7)
    return CUDA_ERROR_INVALID_VALUE;
  auto made = std::make_unique<Event>();
  made->timing = !(flags & 2);
  *event = reinterpret_cast<CUevent>(made.get());
  context->events[made.get()] = std::move(made);
  return CUDA_SUCCESS;
}

static Event *findEvent(Context &context, CUevent handle) {
  const auto found = context.events.find(reinterpret_cast<Event *>(handle));
  return found == context.events.end() ? nullptr : found->second.get();
}

SIMT_API cuEventRecord(CUevent handle, CUstream streamHandle) {
  SIMT_ENTER
  std::shared_ptr<Stream> stream;
  Event *const event = findEvent(*context, handle);
  if (!event)
    return CUDA_ERROR_INVALID_HANDLE;
  if (const CUresult result = findStream(*context, streamHandle, stream))
    return result;
  event->capture = stream->capture;
  event->frontier = stream->frontier;
  if (stream->capture)
    return stream->capture->invalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
  const auto record = std::make_shared<Event::Record>();
  record->stream = stream;
  event->record = record;
  return give(*context, stream, [record] {
    record->done = true;
    record->when = std::chrono::steady_clock::now();
    return CUDA_SUCCESS;
  });
}

static CUresult waitFor(Context &context, Event::Record &record) {
  while (!record.done && !context.error && !record.stream->queue.empty())
    drain(context, *record.stream, record.stream->done + 1);
  return context.error;
}

SIMT_API cuStreamWaitEvent(CUstream handle, CUevent eventHandle, unsigned flags) {
  SIMT_ENTER
  std::shared_ptr<Stream> stream;
  Event *const event = findEvent(*context, eventHandle);
  if (!event)
    return CUDA_ERROR_INVALID_HANDLE;
  if (flags > 1)
    return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult result = findStream(*context, handle, stream))
    return result;
  if (event->capture) {
    if (!context->captures.contains(event->capture) || event->capture->invalid)
      return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (stream->capture && stream->capture != event->capture)
      return invalidate(*stream->capture, CUDA_ERROR_STREAM_CAPTURE_MERGE);
    if (!stream->capture) {
      if (stream == context->defaultStream)
        return invalidate(*event->capture, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
      stream->capture = event->capture;
      stream->capture->streams.push_back(stream.get());
      stream->frontier.clear();
    }
    stream->frontier.insert(event->frontier.begin(), event->frontier.end());
    return CUDA_SUCCESS;
  }
  if (stream->capture) // on work outside of the capture
    return invalidate(*stream->capture, 905);
  const std::shared_ptr<Event::Record> record = event->record;
  if (!record) // never recorded: nothing to wait for
    return CUDA_SUCCESS;
  return give(*context, stream, [context, record] { return waitFor(*context, *record); });
}

SIMT_API cuEventSynchronize(CUevent handle) {
  SIMT_ENTER
  Event *const event = findEvent(*context, handle);
  if (!event)
    return CUDA_ERROR_INVALID_HANDLE;
  if (event->capture)
    return CUDA_ERROR_CAPTURED_EVENT;
  return event->record ? waitFor(*context, *event->record) : CUDA_SUCCESS;
}

SIMT_API cuEventElapsedTime(float *milliseconds, CUevent first, CUevent last) {
  SIMT_ENTER
  Event *const from = findEvent(*context, first), *const to = findEvent(*context, last);
  if (!milliseconds)
    return CUDA_ERROR_INVALID_VALUE;
  if (!from || !to || !from->record || !to->record || !from->timing || !to->timing)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!from->record->done || !to->record->done)
    return CUDA_ERROR_NOT_READY;
  *milliseconds = std::chrono::duration<float, std::milli>(to->record->when - from->record->when).count();
  return CUDA_SUCCESS;
}

SIMT_API cuEventDestroy_v2(CUevent handle) {
  SIMT_ENTER
  return context->events.erase(reinterpret_cast<Event *>(handle)) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

SIMT_API cuStreamBeginCapture_v2(CUstream handle, int mode) {
  SIMT_ENTER
  std::shared_ptr<Stream> stream;
  if (const CUresult result = findStream(*context, handle, stream))
    return result;
  if (mode < 0 || mode > 2)
    return CUDA_ERROR_INVALID_VALUE;
  if (stream == context->defaultStream)
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (stream->capture)
    return CUDA_ERROR_ILLEGAL_STATE;
  const auto capture = std::make_shared<Capture>();
  capture->origin = stream.get();
  capture->mode = mode;
  capture->streams.push_back(stream.get());
  stream->capture = capture;
  stream->frontier.clear();
  context->captures.insert(capture);
  return CUDA_SUCCESS;
}

SIMT_API cuStreamEndCapture(CUstream handle, CUgraph *graph) {
  SIMT_ENTER
  std::shared_ptr<Stream> stream;
  if (const CUresult result = findStream(*context, handle, stream))
    return result;
  if (!graph)
    return CUDA_ERROR_INVALID_VALUE;
  *graph = nullptr;
  const std::shared_ptr<Capture> capture = stream->capture;
  if (!capture)
    return CUDA_ERROR_ILLEGAL_STATE;
  if (capture->origin != stream.get())
    return invalidate(*capture, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
  // What other streams were given must have been joined: all nodes come before the end of this stream.
  std::set<size_t> reached, open = stream->frontier;
  while (!open.empty()) {
    const size_t node = *open.begin();
    open.erase(open.begin());
    if (reached.insert(node).second)
      open.insert(capture->nodes[node].after.begin(), capture->nodes[node].after.end());
  }
  for (const auto &[key, other] : context->streams)
    if (other->capture == capture) {
      other->capture = nullptr;
      other->frontier.clear();
    }
  context->captures.erase(capture);
  if (capture->invalid)
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (reached.size() != capture->nodes.size())
    return CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
  auto made = std::make_shared<Graph>();
  made->nodes = capture->nodes;
  *graph = reinterpret_cast<CUgraph>(made.get());
  context->graphs[made.get()] = std::move(made);
  return CUDA_SUCCESS;
}

SIMT_API cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph handle, unsigned long long) {
  SIMT_ENTER
  const auto found = context->graphs.find(reinterpret_cast<Graph *>(handle));
  if (!exec)
    return CUDA_ERROR_INVALID_VALUE;
  if (found == context->graphs.end())
    return CUDA_ERROR_INVALID_HANDLE;
  auto made = std::make_unique<GraphExec>();
  made->graph = found->second;
  *exec = reinterpret_cast<CUgraphExec>(made.get());
  context->graphExecs[made.get()] = std::move(made);
  return CUDA_SUCCESS;
}

SIMT_API cuGraphLaunch(CUgraphExec handle, CUstream streamHandle) {
  SIMT_ENTER
  const auto found = context->graphExecs.find(reinterpret_cast<GraphExec *>(handle));
  std::shared_ptr<Stream> stream;
  if (found == context->graphExecs.end())
    return CUDA_ERROR_INVALID_HANDLE;
  if (const CUresult result = findStream(*context, streamHandle, stream))
    return result;
  const std::shared_ptr<const Graph> graph = found->second->graph;
  // The order in which nodes were captured is one of those that their dependencies allow.
  return give(*context, stream, [graph] {
    for (const Node &node : graph->nodes)
      if (const CUresult result = node.run())
        return result;
    return (CUresult)CUDA_SUCCESS;
  });
}

SIMT_API cuGraphDestroy(CUgraph handle) {
  SIMT_ENTER
  return context->graphs.erase(reinterpret_cast<Graph *>(handle)) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

SIMT_API cuGraphExecDestroy(CUgraphExec handle) {
  SIMT_ENTER
  return context->graphExecs.erase(reinterpret_cast<GraphExec *>(handle)) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
