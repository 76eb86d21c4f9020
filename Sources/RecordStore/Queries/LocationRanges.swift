package import RecordModel
package import StorageContract

/// Covers a circle on the earth with a few ranges of the Z-order.
///
/// The Z-order walks a quadtree: the whole, its four quarters, theirs, and so on. A square of the
/// tree is one range. Squares that are partly outside are split, the largest first, until there are
/// too many. The reader filters the excess.
package enum LocationRanges {
    private static let squaresMax = 16

    /// Ranges of entries, ascending and disjoint; at most 16.
    package static func covering(_ centre: Location, metres: Double) -> [EntryRange] {
        let boxes = self.boxes(centre, metres: metres)
        var whole: [Square] = []
        var partial = [Square(level: 0, latitude: 0, longitude: 0)]
        var finished: [Square] = []
        while let next = partial.indices.min(by: { partial[$0].level < partial[$1].level }) {
            let square = partial.remove(at: next)
            if boxes.contains(where: { $0.contains(square) }) {
                whole.append(square)
                continue
            }
            let quarters =
                square.level == 32
                ? [] : square.quarters.filter { quarter in boxes.contains { $0.meets(quarter) } }
            let others = whole.count + partial.count + finished.count
            if square.level < 32, others + quarters.count <= self.squaresMax {
                partial += quarters
            } else {
                finished.append(square)
            }
        }
        return self.joined((whole + finished).map(\.cells).sorted { $0.lowerBound < $1.lowerBound })
    }

    private static func joined(_ cells: [ClosedRange<UInt64>]) -> [EntryRange] {
        var joined: [ClosedRange<UInt64>] = []
        for range in cells {
            if let last = joined.last, last.upperBound &+ 1 == range.lowerBound {
                joined[joined.count - 1] = last.lowerBound...range.upperBound
            } else {
                joined.append(range)
            }
        }
        return joined.map { range in
            EntryRange(
                lower: IndexValue.bigEndian(range.lowerBound),
                upper: range.upperBound == .max ? nil : IndexValue.bigEndian(range.upperBound + 1)
            )
        }
    }

    /// One box, or two if the circle crosses the 180th meridian.
    private static func boxes(_ centre: Location, metres: Double) -> [Box] {
        let reach = GreatCircle.reach(of: metres, from: centre)
        let latitudes = self.cells(
            from: centre.latitude - reach.latitude,
            to: centre.latitude + reach.latitude,
            { LocationCell(Location(latitude: $0, longitude: 0)).latitude }
        )
        func box(_ from: Double, _ to: Double) -> Box {
            Box(
                latitudes: latitudes,
                longitudes: self.cells(
                    from: from,
                    to: to,
                    { LocationCell(Location(latitude: 0, longitude: $0)).longitude }
                )
            )
        }
        guard let width = reach.longitude, abs(centre.longitude) <= 180 else { return [box(-180, 180)] }
        let west = centre.longitude - width
        let east = centre.longitude + width
        if west < -180 { return [box(-180, east), box(west + 360, 180)] }
        if east > 180 { return [box(west, 180), box(-180, east - 360)] }
        return [box(west, east)]
    }

    private static func cells(
        from lower: Double,
        to upper: Double,
        _ cell: (Double) -> UInt32
    ) -> ClosedRange<UInt32> {
        let first = cell(lower)
        return first...max(first, cell(upper))
    }
}

private struct Box {
    var latitudes: ClosedRange<UInt32>
    var longitudes: ClosedRange<UInt32>

    func meets(_ square: Square) -> Bool {
        self.latitudes.overlaps(square.latitudes) && self.longitudes.overlaps(square.longitudes)
    }

    func contains(_ square: Square) -> Bool {
        self.latitudes.contains(square.latitudes) && self.longitudes.contains(square.longitudes)
    }
}

/// A square of the quadtree: the cells that have these first `level` bits.
private struct Square {
    var level: Int
    var latitude: UInt32
    var longitude: UInt32

    var latitudes: ClosedRange<UInt32> { self.latitude...(self.latitude | self.rest) }
    var longitudes: ClosedRange<UInt32> { self.longitude...(self.longitude | self.rest) }

    private var rest: UInt32 { self.level == 0 ? .max : self.level == 32 ? 0 : .max >> UInt32(self.level) }

    var cells: ClosedRange<UInt64> {
        let first = LocationCell(latitude: self.latitude, longitude: self.longitude)
        let last = LocationCell(latitude: self.latitude | self.rest, longitude: self.longitude | self.rest)
        return first.zOrder...last.zOrder
    }

    var quarters: [Square] {
        let half: UInt32 = 1 << UInt32(31 - self.level)
        var quarters: [Square] = []
        for latitude in [self.latitude, self.latitude | half] {
            for longitude in [self.longitude, self.longitude | half] {
                quarters.append(Square(level: self.level + 1, latitude: latitude, longitude: longitude))
            }
        }
        return quarters
    }
}
