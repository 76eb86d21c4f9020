import RecordStore

extension RecordServer {
    /// Returns when every event loop and the store's writer have done an empty piece of work.
    ///
    /// A loop or a writer that hangs lets it wait: for a watchdog, silence is the news. Without
    /// event loops, before the start and after the shutdown, the writer alone is asked.
    package func threadsResponse() async {
        await self.context.loops.response()
        await self.context.store.writerResponse()
    }
}
