/// Fetching the records of up to four zones at once; while a page is reported, only the next page
/// of its zone is fetched.
extension SyncWorker {
    private struct Page: Sendable {
        var zone: CKRecordZone.ID
        var result: Result<ZoneChanges, CKError>
    }

    /// Fetches zones with changes.
    ///
    /// - Throws: `CKError` if the delegate or the engine is gone.
    func fetchZones(_ course: inout FetchCourse) async throws(CKError) {
        let result: Result<FetchCourse, CKError> = await withTaskGroup(of: Page.self) { [course] group in
            var course = course
            do throws(CKError) {
                while true {
                    try await self.startZones(&course, &group)
                    guard let page = await group.next() else { return .success(course) }
                    switch page.result {
                    case .success(let changes): try await self.take(changes, of: page.zone, &course, &group)
                    case .failure(let error): try await self.fail(page.zone, error, &course)
                    }
                    if course.outcome.error != nil { group.cancelAll() }
                }
            } catch {
                group.cancelAll()
                return .failure(error)
            }
        }
        course = try result.get()
    }

    private func startZones(
        _ course: inout FetchCourse,
        _ group: inout TaskGroup<Page>
    ) async throws(CKError) {
        guard course.outcome.error == nil, !self.state.snapshot.zonesBehind.isEmpty else { return }
        let options = try await self.options(course)
        for zone in course.queue.start(of: self.state.snapshot.zonesBehind, options) {
            let progress = self.state.snapshot.zones[zone] ?? .init()
            try await self.deliver(
                .willFetchRecordZoneChanges(.init(zoneID: zone, startsAnew: progress.startsAnew))
            )
            self.ask(&group, course.calls, zone, since: progress.token, isAhead: false, options)
        }
    }

    private func ask(
        _ group: inout TaskGroup<Page>,
        _ calls: SyncCalls,
        _ zone: CKRecordZone.ID,
        since token: CKServerChangeToken?,
        isAhead: Bool,
        _ options: CKSyncEngine.FetchChangesOptions
    ) {
        let server = self.server
        group.addTask {
            do throws(CKError) {
                let changes = try await calls.run {
                    try await server.zoneChanges(
                        of: zone,
                        since: token,
                        isAhead: isAhead,
                        group: options.operationGroup
                    )
                }
                return Page(zone: zone, result: .success(changes))
            } catch {
                return Page(zone: zone, result: .failure(error))
            }
        }
    }

    /// Reports a page, notes it, and continues.
    private func take(
        _ changes: ZoneChanges,
        of zone: CKRecordZone.ID,
        _ course: inout FetchCourse,
        _ group: inout TaskGroup<Page>
    ) async throws(CKError) {
        var goesOn = false
        if changes.moreComing, course.outcome.error == nil {
            let options = try await self.options(course)
            goesOn = options.scope.contains(zone)
            if goesOn { self.ask(&group, course.calls, zone, since: changes.token, isAhead: true, options) }
        }
        if !changes.isEmpty {
            try await self.deliver(
                .fetchedRecordZoneChanges(
                    .init(modifications: changes.modifications, deletions: changes.deletions)
                )
            )
        }
        self.state.update { $0.zonePage(zone, token: changes.token, isLast: !changes.moreComing) }
        try await self.tellState()
        guard !goesOn else { return }
        course.queue.ended(zone)
        // The zone has left the scope, so not all of it has come.
        let error = changes.moreComing ? course.outcome.error ?? .cancelled : nil
        try await self.deliver(.didFetchRecordZoneChanges(.init(zoneID: zone, error: error)))
    }

    /// Notes and reports the error of a zone, or of all zones.
    private func fail(
        _ zone: CKRecordZone.ID,
        _ error: CKError,
        _ course: inout FetchCourse
    ) async throws(CKError) {
        switch error.code {
        case .changeTokenExpired:
            self.state.update { $0.zoneTokenExpired(zone) }
            if !course.queue.expired(zone) { course.outcome.later = error }
        case .zoneNotFound, .userDeletedZone:
            self.state.update { $0.zoneMissing(zone) }
            course.queue.ended(zone)
            course.isZoneMissing = true
        default:
            course.queue.failed(zone)
            if !error.isOfZone {
                course.outcome.error = course.outcome.error ?? error
            } else if error.isTransient {
                course.outcome.later = error.later(than: course.outcome.later)
            }
        }
        try await self.deliver(.didFetchRecordZoneChanges(.init(zoneID: zone, error: error)))
        try await self.tellState()
    }
}
