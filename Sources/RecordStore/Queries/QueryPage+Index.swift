import StorageContract

/// Pages in an order that indexes give.
///
/// Records with the first sort key's field come first, in the order of its index. Of the others,
/// those with the second key's field follow, in that one's order, and so on. Records without any of
/// the fields come last, by name. Records with equal values are read as a whole, and sorted by the
/// further keys and their names.
extension QueryPage {
    func readByIndex(
        _ firstRanges: [EntryRange],
        hasOthers: Bool,
        behind end: SortEnd?
    ) throws(QueryFailure) -> QueryPosition.Order? {
        let zones = try self.allZones()
        var end = end
        let phaseCount = hasOthers ? self.query.sort.count + 1 : 1
        let first = self.query.firstPhase(behind: end)
        guard first < phaseCount else { throw .refused(.cursorInvalid) }
        // A page makes progress, whatever the zones cost.
        self.store.meter.isHeld = true
        for phase in first..<phaseCount {
            // Every record has the field, so the later phases are empty.
            if self.query.sort.prefix(phase).contains(where: \.isAlwaysPresent) { break }
            if self.isFull { return .sorted(end) }
            let ranges = phase == 0 ? firstRanges : [.all]
            switch try self.readPhase(phase, ranges, zones, behind: end) {
            case .finished(let last): end = last
            case .stopped(let last): return .sorted(last)
            }
        }
        return nil
    }

    private enum PhaseEnd {
        case finished(SortEnd?)
        case stopped(SortEnd?)
    }

    private struct ZoneEntries {
        var zone: NamedZone
        var cursor: EntryCursor
    }

    private func allZones() throws(QueryFailure) -> [NamedZone] {
        var walk = self.zones(from: "")
        var zones: [NamedZone] = []
        while let zone = try walk.next() {
            guard zones.count < self.budget.zonesMax else { throw .refused(.queryTooBroad) }
            zones.append(zone)
        }
        return zones
    }

    private func readPhase(
        _ phase: Int,
        _ ranges: [EntryRange],
        _ zones: [NamedZone],
        behind start: SortEnd?
    ) throws(QueryFailure) -> PhaseEnd {
        let isListing = phase == self.query.sort.count
        let cursors = zones.map { zone in
            let pieces = self.query.pieces(
                ofPhase: phase,
                ranges,
                in: zone.key,
                behind: start,
                room: zones.count == 1 ? self.room : nil
            )
            return ZoneEntries(zone: zone, cursor: EntryCursor(pieces, self.store))
        }
        let isDescending = self.query.isDescending(inPhase: phase)
        var end = start
        while true {
            var value: [UInt8]?
            for cursor in cursors {
                switch try cursor.cursor.peek() {
                case .paused: return .stopped(end)
                case .end: continue
                case .found(let entry):
                    let isNext = value.map {
                        isDescending ? $0.precedes(entry.value) : entry.value.precedes($0)
                    }
                    if isNext ?? true { value = entry.value }
                }
            }
            guard let value else { return .finished(end) }
            if self.isFull || self.store.meter.isUsedUp { return .stopped(end) }
            self.store.meter.isHeld = true
            if phase == 0, cursors.count == 1, cursors[0].cursor.isLastOfValue,
                start?.keys.first != .some(value)
            {
                guard try self.takeNext(of: cursors[0]) else { return .stopped(end) }
                self.store.meter.isHeld = false
                end = Self.end(of: value, phase, isListing: isListing)
                continue
            }
            let group = try self.group(of: value, phase, cursors, behind: start)
            if let last = try self.add(group.candidates, in: group.zones) { return .stopped(last ?? end) }
            self.store.meter.isHeld = false
            end = Self.end(of: value, phase, isListing: isListing)
        }
    }

    /// Takes a record that need not be sorted among others.
    ///
    /// Returns `false` if it does not fit.
    private func takeNext(of entries: ZoneEntries) throws(QueryFailure) -> Bool {
        guard case .found = try entries.cursor.next(), let listed = entries.cursor.record else { return true }
        if self.addsUnseen { return try self.addUnseen(listed, in: entries.zone) == .taken }
        guard
            let record = try self.plan.filter == .all
                ? self.candidate(listed, in: entries.zone) : self.record(listed, in: entries.zone)?.record
        else { return true }
        return try self.add(record, in: entries.zone)
    }

    private static func end(of value: [UInt8], _ phase: Int, isListing: Bool) -> SortEnd {
        let missing = [[UInt8]?](repeating: nil, count: phase)
        guard isListing else { return SortEnd(keys: missing + [value]) }
        return SortEnd(keys: missing, name: String(decoding: value, as: UTF8.self))
    }

    /// The first records with one value: as many as fit, and one more.
    private func group(
        of value: [UInt8],
        _ phase: Int,
        _ cursors: [ZoneEntries],
        behind start: SortEnd?
    ) throws(QueryFailure) -> (candidates: [FirstOfOrder.Candidate], zones: [String: NamedZone]) {
        var first = FirstOfOrder(self.order, countMax: self.room + 1)
        var zones: [String: NamedZone] = [:]
        var read = 0
        for cursor in cursors {
            while case .found(let entry) = try cursor.cursor.peek(), entry.value == value {
                _ = try cursor.cursor.next()
                read += 1
                guard read <= self.budget.collectedMax, !self.store.meter.isTooBroad else {
                    throw .refused(.queryTooBroad)
                }
                guard let listed = cursor.cursor.record,
                    let values = try self.record(listed, in: cursor.zone),
                    self.query.sort.prefix(phase).allSatisfy({ values.elements(of: $0.field) == nil })
                else { continue }
                var position = self.order.position(of: values, in: cursor.zone.name)
                // The entry alone says where the record belongs: a page may end with it.
                if values.isDamaged, phase < position.keys.count { position.keys[phase] = value }
                guard start.map({ self.order.isBehind(position, $0) }) ?? true else { continue }
                zones[cursor.zone.name] = cursor.zone
                first.add(.init(position: position, number: entry.record, record: values.record))
            }
        }
        return (first.sorted(), zones)
    }
}

/// What the pages of an order read, by phase: one for each sort key, and the listing.
extension CheckedQuery {
    /// The phase in which a page begins behind the end of another.
    func firstPhase(behind end: SortEnd?) -> Int {
        end.map { end in end.keys.firstIndex { $0 != nil } ?? self.sort.count } ?? 0
    }

    func isDescending(inPhase phase: Int) -> Bool { phase < self.sort.count && !self.sort[phase].isAscending }

    /// `room` is that for records of a page with one zone; `nil` if it merges several.
    func pieces(
        ofPhase phase: Int,
        _ ranges: [EntryRange],
        in zone: ZoneKey,
        behind start: SortEnd?,
        room: Int?
    ) -> EntryPieces {
        EntryPieces(
            phase == self.sort.count ? self.listing : self.sort[phase].index,
            in: zone,
            ranges: self.left(of: ranges, phase, behind: start),
            isDescending: self.isDescending(inPhase: phase),
            size: room.map { $0 + 1 } ?? 8,
            hasRecords: room != nil
        )
    }

    /// The ranges of a phase that may have records behind the end of a page, including the values
    /// of that end.
    private func left(
        of ranges: [EntryRange],
        _ phase: Int,
        behind start: SortEnd?
    ) -> [EntryRange] {
        guard let start, start.keys.prefix(phase).allSatisfy({ $0 == nil }) else { return ranges }
        let isListing = phase == self.sort.count
        let last = isListing ? start.name.map { Array($0.utf8) } : start.keys[safely: phase] ?? nil
        guard let last else { return ranges }
        let isWhole = isListing ? start.zone == nil : start.name == nil && start.keys.count == phase + 1
        // The last group was read as a whole, so the page starts with the next value.
        let behind =
            self.isDescending(inPhase: phase)
            ? EntryRange(lower: [], upper: isWhole ? last : last + [0])
            : EntryRange(lower: isWhole ? last + [0] : last, upper: nil)
        return EntryRange.intersection(ranges, behind.isEmpty ? [] : [behind])
    }
}

extension Array {
    fileprivate subscript(safely index: Int) -> Element? {
        self.indices.contains(index) ? self[index] : nil
    }
}
