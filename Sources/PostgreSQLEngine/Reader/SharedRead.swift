import RecordStore

/// A job that is read in one snapshot with others.
struct SharedRead {
    private enum Stage {
        /// Its rows were prefetched.
        case named
        /// Its first question was sent.
        case asked(FirstQuestion)
        /// It asked nothing; without a reply it is to be read alone.
        case ended(ReadJob.Reply?)
    }

    let job: ReadJob
    private let stage: Stage

    /// Executes a job up to its first question, unless its rows were prefetched.
    init(_ job: ReadJob, in snapshot: PostgreSQLSnapshot) {
        self.job = job
        guard job.prefetch == nil else {
            self.stage = .named
            return
        }
        let question = FirstQuestion()
        // A job that fails without a question is read alone, as one that takes too long.
        let reply = try? Self.execute(job, with: question, in: snapshot)
        self.stage = question.isAsked ? .asked(question) : .ended(reply)
    }

    /// Executes the job, whose first answer has come; `nil` if it is to be read alone.
    func reply(in snapshot: PostgreSQLSnapshot) throws(StorageFailure) -> ReadJob.Reply? {
        switch self.stage {
        case .named: return try self.job.body(snapshot, true)
        case .ended(let reply): return reply
        case .asked(let question):
            self.job.sink?.removeAll()
            question.goOn()
            return try Self.execute(self.job, with: question, in: snapshot)
        }
    }

    private static func execute(
        _ job: ReadJob,
        with question: FirstQuestion,
        in snapshot: PostgreSQLSnapshot
    ) throws(StorageFailure) -> ReadJob.Reply? {
        snapshot.connection.question = question
        defer { snapshot.connection.question = nil }
        return try job.body(snapshot, true)
    }
}

extension PostgreSQLSnapshot {
    /// Begins jobs, and waits for the answers to their first questions.
    func begin(_ jobs: [ReadJob]) throws(StorageFailure) -> [SharedRead] {
        let reads = jobs.map { SharedRead($0, in: self) }
        // Rows that were prefetched come with the first that is asked for.
        if jobs.contains(where: { $0.prefetch == nil }) { try self.settle() }
        return reads
    }
}
