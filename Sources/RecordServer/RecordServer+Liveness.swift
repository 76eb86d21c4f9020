import RecordStore

extension RecordServer {
    /// Returns when every event loop and the store's writer have executed an empty task.
    ///
    /// A loop or a writer that hangs blocks the call: a watchdog reacts to silence. Without event
    /// loops, before the start and after the shutdown, only the writer is asked.
    package func threadsResponse() async {
        await self.context.loops.response()
        await self.context.store.writerResponse()
    }
}
