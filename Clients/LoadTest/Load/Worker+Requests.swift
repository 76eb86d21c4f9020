import RecordModel

/// How a worker makes requests.
extension Worker {
    /// Makes the request of a step.
    ///
    /// A fetch replaces a write if no key may be written, and a download if there is no file.
    func request(
        for step: Step,
        due: ContinuousClock.Instant,
        _ state: inout State
    ) -> Call {
        let request: (Call.Work, Operation?)? =
            switch step {
            case .save: self.save(count: 1, &state)
            case .saveBatch: self.save(count: self.settings.batch, &state)
            case .delete: self.delete(&state)
            case .push: self.save(.push, &state).map { (.push($0.key), $0.operation) }
            case .sync: self.save(.sync, &state).map { (.sync($0.key), $0.operation) }
            case .assets: self.assets(&state)
            case .query: self.query(&state)
            case .changes: self.changes(&state)
            case .fetch: nil
            }
        let (work, operation) = request ?? self.fetch(&state)
        return Call(due: due, work: work, operation: operation, ticks: state.keys.ticks)
    }

    // MARK: Writes

    /// Saves records of one zone, as an atomic batch requires: the drawn key, and the following
    /// writable keys in its zone.
    private func save(count: Int, _ state: inout State) -> (Call.Work, Operation?)? {
        let drawn = state.plainKeys.write(using: &state.generator)
        guard let first = state.keys.writable(drawn, .plain) else { return nil }
        var keys: [Int] = []
        var next = first
        repeat {
            if state.keys.keys[next].mayBeWritten { keys.append(next) }
            next = self.settings.layout.key(after: next, of: self.settings.plainKeys)
        } while keys.count < count && next != first
        return (.save(keys), Self.modify(keys.map { self.recordSave($0, &state) }))
    }

    private func save(_ kind: KeyTable.Kind, _ state: inout State) -> (key: Int, operation: Operation)? {
        let drawn = state.specialKeys.write(using: &state.generator)
        guard let key = state.keys.writable(drawn, kind) else { return nil }
        return (key, Self.modify([self.recordSave(key, &state)]))
    }

    /// Begins a save of a key.
    func recordSave(_ key: Int, asset: Asset? = nil, _ state: inout State) -> RecordSave {
        let version = state.keys.beginSave(key)
        let kind = state.keys.kind(of: key)
        let layout = self.settings.layout
        let contents = Contents(
            version: version,
            worker: UInt32(self.number),
            key: UInt32(key)
        )
        return RecordSave(
            id: layout.recordID(key, in: state.keys),
            recordType: kind.recordType,
            changes: contents.body(
                bucket: kind == .plain ? layout.bucket(of: key, worker: self.number) : nil,
                payloadBytes: self.settings.recordBytes,
                asset: asset
            )
        )
    }

    private func delete(_ state: inout State) -> (Call.Work, Operation?)? {
        let drawn = state.plainKeys.write(using: &state.generator)
        guard let key = state.keys.writable(drawn, .plain) else { return nil }
        state.keys.beginDelete(key)
        let id = self.settings.layout.recordID(key, in: state.keys)
        return (.delete(key), .modifyRecords(ModifyRecords(scope: .private, saves: [], deletes: [id])))
    }

    static func modify(_ saves: [RecordSave]) -> Operation {
        // A key has one writer, so the last write is always right.
        .modifyRecords(ModifyRecords(scope: .private, saves: saves, policy: .allKeys))
    }

    private func assets(_ state: inout State) -> (Call.Work, Operation?)? {
        let drawn = state.specialKeys.write(using: &state.generator)
        guard let key = state.keys.writable(drawn, .asset) else { return nil }
        state.keys.hold(key)
        if let asset = state.assets[key], state.generator.next() & 1 == 0 {
            return (.download(key, asset), nil)
        }
        let bytes = AssetBytes(worker: self.number, key: key, version: state.keys.keys[key].latest + 1)
        return (.upload(key, bytes), nil)
    }

    // MARK: Readings

    private func fetch(_ state: inout State) -> (Call.Work, Operation?) {
        let key = state.plainKeys.read(using: &state.generator)
        let id = self.settings.layout.recordID(key, in: state.keys)
        return (.fetch(key), .fetchRecords(FetchRecords(scope: .private, ids: [id])))
    }

    private func query(_ state: inout State) -> (Call.Work, Operation?) {
        let layout = self.settings.layout
        let key = state.plainKeys.read(using: &state.generator)
        if self.settings.areQueriesBroad { return self.broadQuery(from: key) }
        let condition = Comparison(
            field: "bucket",
            comparator: .equals,
            operand: .int64(layout.bucket(of: key, worker: self.number))
        )
        let query = Query(recordType: KeyTable.Kind.plain.recordType, predicate: .comparison(condition))
        return (
            .query(keys: layout.keys(besides: key, of: state.keys.range(of: .plain))),
            .queryRecords(
                QueryRecords(
                    scope: .private,
                    start: .query(query, zone: layout.zone(layout.zoneNumber(of: key))),
                    limit: UInt32(2 * Layout.keysPerBucket)
                )
            )
        )
    }

    /// A page of all records of a zone except those of one bucket, which is empty.
    private func broadQuery(from key: Int) -> (Call.Work, Operation?) {
        let layout = self.settings.layout
        let condition = Comparison(field: "bucket", comparator: .notEquals, operand: .int64(-1))
        let query = Query(recordType: KeyTable.Kind.plain.recordType, predicate: .comparison(condition))
        return (
            .query(keys: key..<key),
            .queryRecords(
                QueryRecords(
                    scope: .private,
                    start: .query(query, zone: layout.zone(layout.zoneNumber(of: key))),
                    limit: UInt32(Bounds.queryPageMax)
                )
            )
        )
    }

    private func changes(_ state: inout State) -> (Call.Work, Operation?) {
        let zone = Int.random(in: 0..<self.settings.layout.zoneCount, using: &state.generator)
        let page = FetchChanges(
            scope: .private,
            zone: self.settings.layout.zone(zone),
            token: state.tokens[zone],
            limit: UInt32(self.settings.page)
        )
        return (.changes(zone: zone), .fetchChanges(page))
    }
}
