package import StorageContract

/// The records of all users: what the server, the command line and tests call.
///
/// The store decides what a request means and who may make it; an engine keeps rows, transactions and
/// their order.
///
/// A reply comes on a thread of the engine, or on the caller's thread before the call returns. Replies
/// to different calls come in no particular order. Every reply comes exactly once.
package final class Store: Sendable {
    let engine: any StorageEngine
    private let clock: @Sendable () -> Int64
    let writeRules: WriteRules
    let readRules: ReadRules
    let queryAttempts = QueryAttempts()
    /// Whether there is room for a request to wait.
    package let load: any LoadGate
    let counters = WriteCounters()
    /// The files of assets, the records that name them, and the open uploads.
    package let assets: AssetRegistry
    /// The changes that users are notified of.
    package let subscriptions: Subscriptions
    /// Progress of installations in zones.
    let deliveries: DeliveryLedger

    /// Serves what an engine keeps, and has the engine to itself.
    package init(_ engine: some StorageEngine & LoadGate, configuration: StoreConfiguration) {
        self.engine = engine
        self.clock = configuration.clock
        self.writeRules = configuration.writeRules
        self.readRules = configuration.readRules
        self.load = engine
        self.assets = AssetRegistry(engine: engine, rules: self.writeRules)
        self.subscriptions = Subscriptions(engine: engine)
        self.deliveries = DeliveryLedger(engine: engine, clock: configuration.clock)
    }

    /// The users and containers that may use the store.
    package var directory: Directory { Directory(engine: self.engine, clock: self.clock) }

    /// Schemas of record types, and the roles of users.
    package var schemas: SchemaStore { SchemaStore(engine: self.engine) }

    /// The quotas in force; others apply from the next request on.
    package var quotas: StorageQuotas {
        get { self.writeRules.liveQuotas.current }
        set { self.writeRules.liveQuotas.current = newValue }
    }

    /// Figures for metrics and for `tidemark-load`.
    package var statistics: EngineStatistics {
        var statistics = self.engine.statistics
        self.counters.add(to: &statistics)
        return statistics
    }

    /// Lets the writer finish what it admitted, rejects the rest with `shuttingDown`, and closes the
    /// files.
    package func shutdown() async {
        self.subscriptions.flush()
        self.deliveries.flush()
        await self.engine.shutdown()
    }
}
