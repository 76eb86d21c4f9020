import Foundation

/// The load of all tenants at once, each measured separately.
struct TenantStage: Sendable {
    struct Outcome: Sendable {
        /// By tenant.
        var measurements: [Measurements]
        /// The actual length of the measured time.
        var seconds: Double
        var isInterrupted: Bool
    }

    /// How long one tenant of each appetite is measured alone.
    private static let aloneSeconds = 0.5
    /// How late a retry may be sent.
    private static let retryLateness = Duration.milliseconds(2)
    private static let stopBeat = Duration.milliseconds(10)

    let clients: Clients
    let classes: [TenantClass]
    let warmUp: Duration
    let duration: Duration
    let live: LiveLine

    // MARK: Alone

    /// The time of each kind of request without other load: medians in milliseconds.
    func prices() async -> TenantPrices {
        var prices = TenantPrices()
        for appetite in TenantClass.Appetite.allCases {
            // The least greedy tenant of an appetite, which has one request at a time here.
            guard
                let number = self.classes.indices.filter({ self.classes[$0].appetite == appetite })
                    .min(by: { self.classes[$0].atATime < self.classes[$1].atATime })
            else { continue }
            let start = ContinuousClock.now
            let recorder = Recorder(period: start..<start + .seconds(Self.aloneSeconds))
            let worker = self.clients.workers[number]
            worker.join(recorder)
            while .now < recorder.period.upperBound, !Interruption.happened {
                worker.arrive(due: .now)
                await self.stop { await worker.stop() }
                worker.join(recorder)
            }
            for (kind, figures) in recorder.close().operations where figures.latencies.count > 0 {
                let records = Double(figures.records) / Double(max(1, figures.responsesInTime))
                let rest = Double(worker.settings.restMicrosecondsPerRecord) / 1_000 * records
                let price = max(figures.latencies.percentile(50) - rest, 0.01)
                prices.milliseconds[appetite, default: [:]][kind] = price
            }
        }
        return prices
    }

    // MARK: All

    /// Ends early after a signal.
    ///
    /// The result has the measurements up to then.
    func run() async -> Outcome {
        let start = ContinuousClock.now
        let measured = start + self.warmUp
        let period = measured..<measured + self.duration
        let recorders = self.clients.workers.map { _ in Recorder(period: period) }
        for (worker, recorder) in zip(self.clients.workers, recorders) { worker.join(recorder) }
        async let shown: Void = self.show(recorders, period)
        let isInterrupted = await self.load(until: period.upperBound)
        let end = min(ContinuousClock.now, period.upperBound)
        await self.stop { await self.clients.stop() }
        for recorder in recorders { recorder.end() }
        await shown
        return Outcome(
            measurements: recorders.map { $0.close() },
            seconds: max(0, (end - measured).seconds),
            isInterrupted: isInterrupted
        )
    }

    /// - Returns: Whether a signal ended it.
    private func load(until end: ContinuousClock.Instant) async -> Bool {
        for (worker, kind) in zip(self.clients.workers, self.classes) where kind != .bursts {
            worker.startClosedLoop()
        }
        return await withTaskGroup(of: Bool?.self) { group in
            group.addTask {
                try? await Task.sleep(until: end, tolerance: .zero, clock: .continuous)
                return false
            }
            group.addTask {
                await Interruption.wait()
                return Interruption.happened ? true : nil
            }
            group.addTask {
                while (try? await Task.sleep(for: Self.retryLateness)) != nil {
                    for retry in self.clients.retries?.take(through: .now) ?? [] {
                        retry.worker.comeBack(retry)
                    }
                }
                return nil
            }
            for (worker, kind) in zip(self.clients.workers, self.classes) where kind == .bursts {
                group.addTask {
                    repeat {
                        for _ in 0..<kind.atATime { worker.arrive(due: .now) }
                    } while (try? await Task.sleep(for: TenantClass.burstInterval)) != nil
                    return nil
                }
            }
            var first: Bool?
            for await isInterrupted in group {
                guard let isInterrupted else { continue }
                first = first ?? isInterrupted
                group.cancelAll()
            }
            return first ?? false
        }
    }

    /// Returns when no request is in flight.
    ///
    /// Retries are not sent any more.
    private func stop(_ body: @escaping @Sendable () async -> Void) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await body() }
            group.addTask {
                repeat {
                    for retry in self.clients.retries?.takeAll() ?? [] { retry.worker.giveUp(retry) }
                    self.clients.expire()
                } while (try? await Task.sleep(for: Self.stopBeat)) != nil
            }
            await group.next()
            group.cancelAll()
        }
    }

    private func show(_ recorders: [Recorder], _ period: Range<ContinuousClock.Instant>) async {
        var next = ContinuousClock.now
        while let last = recorders.last, !last.hasEnded {
            next += .seconds(1)
            try? await Task.sleep(until: next, clock: .continuous)
            self.clients.expire()
            guard self.live.isDue(of: self.duration.seconds) else { continue }
            var recent = Recorder.Recent()
            for recorder in recorders {
                let own = recorder.takeRecent()
                recent.figures.add(own.figures)
                recent.unfinished += own.unfinished
            }
            self.live.show(
                recent,
                waiting: self.clients.retries?.count ?? 0,
                second: (.now - period.lowerBound).seconds,
                of: self.duration.seconds
            )
        }
    }
}

/// The time of requests without other load: the unit in which the work of different requests is
/// compared.
struct TenantPrices: Codable, Sendable {
    /// Medians.
    var milliseconds: [TenantClass.Appetite: [Measured: Double]] = [:]

    /// Seconds of a server without other requests.
    ///
    /// Requests that could not be measured alone count for a millisecond.
    func seconds(of measurements: Measurements, _ appetite: TenantClass.Appetite) -> Double {
        measurements.operations.reduce(0) { sum, operation in
            let price = self.milliseconds[appetite]?[operation.key] ?? 1
            return sum + price * Double(operation.value.responsesInTime) / 1_000
        }
    }
}
