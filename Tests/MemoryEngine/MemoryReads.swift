import StorageContract

extension MemoryStorage {
    /// Executes a read.
    ///
    /// - Returns: Whether the job has come to its end; an attempt may have given up.
    func execute(_ job: ReadJob, isAttempt: Bool = false) -> Bool {
        do throws(StorageFailure) {
            guard let reply = try job.body(ContentsReader(self.contents), isAttempt) else { return false }
            reply()
        } catch {
            job.fail(.storage(error))
        }
        return true
    }
}
