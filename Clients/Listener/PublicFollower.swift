import CloudKit

/// Polls the public database without a credential: a server sends notifications only to users.
struct PublicFollower {
    let container: CKContainer
    let wanted: [WantedSubscription]
    let purpose: Listener.Purpose
    let interval: Duration
    private let link = Link(listens: false)

    init(
        _ container: CKContainer,
        _ wanted: [WantedSubscription],
        _ purpose: Listener.Purpose,
        interval: Duration
    ) {
        self.container = container
        self.wanted = wanted
        self.purpose = purpose
        self.interval = interval
    }

    /// - Throws: `ListenFailure`, `CKError` or `CancellationError`.
    func run() async throws {
        let identifier = self.container.containerIdentifier ?? ""
        let readings = self.wanted.map { Reading($0.subscription, in: $0.scope) }
        for (wanted, reading) in zip(self.wanted, readings) { try await self.check(wanted, reading) }
        let fetches = self.purpose.state != nil
        var fetcher = ChangeFetcher(
            container: self.container,
            link: self.link,
            state: self.purpose.state ?? StateFile(container: identifier)
        ) { [purpose] change, isNew in
            let notice = Notice(change, in: .public, of: identifier, foundAt: Date())
            if isNew, let notice { try purpose.print(notice) }
            if fetches { try purpose.print(change) }
            if isNew, let notice { try await purpose.run(notice) }
        }
        for reading in readings {
            if self.purpose.beginsNow || !fetches { try await fetcher.beginNow(reading) }
        }
        Output.status("not signed in: polling for changes every \(self.interval.text)")
        var isFirst = true
        while true {
            for reading in readings { try await fetcher.fetch(reading) }
            if isFirst, fetches { Output.status("caught up") }
            isFirst = false
            try await Task.sleep(for: self.interval)
        }
    }

    /// Has the server check the query: no record would ever match one that it refuses.
    private func check(_ wanted: WantedSubscription, _ reading: Reading) async throws {
        guard let filter = reading.filter else { return }
        let query = CKQuery(recordType: filter.recordType, predicate: filter.predicate)
        do {
            _ = try await self.link.ask {
                try await self.container.publicCloudDatabase.records(
                    matching: query,
                    desiredKeys: [],
                    resultsLimit: 1
                )
            }
        } catch let error as CKError where error.code == .unknownItem {
            // No record of the type was saved yet.
        } catch let error as CKError {
            throw ListenFailure(error, to: "follow \(wanted.text)")
        }
    }
}
