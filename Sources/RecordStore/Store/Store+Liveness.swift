package import StorageContract

extension Store {
    /// Whether changes are written at this moment, as far as the engine has tried.
    package var condition: StorageCondition { self.engine.condition }

    /// Returns when the writer has taken an empty job and is done with it, whatever its outcome.
    ///
    /// It returns as well when the engine shuts down. A writer that hangs lets it wait.
    package func writerResponse() async {
        await withCheckedContinuation { continuation in
            let job = WriteJob(asideAfterMilliseconds: 0) { _ in
                .finished { continuation.resume() }
            } fail: { _ in
                // A full disk, for example: the writer is alive, and says so to clients.
                continuation.resume()
            }
            self.engine.write(job)
        }
    }
}
