/// The values of one field have one kind, except for a `NUMBER`: its integers and doubles are
/// compared as numbers, exactly.
extension ComparableValue: Comparable {
    package static func < (left: ComparableValue, right: ComparableValue) -> Bool {
        switch (left, right) {
        case (.bytes(let left), .bytes(let right)): left.precedes(right)
        case (.integer(let left), .integer(let right)): left < right
        case (.double(let left), .double(let right)): left < right
        case (.integer(let integer), .double(let double)): self.order(integer, double) < 0
        case (.double(let double), .integer(let integer)): self.order(integer, double) > 0
        case (.coordinate(let left, let leftTurn), .coordinate(let right, let rightTurn)):
            (left, leftTurn) < (right, rightTurn)
        case (.bytes, _), (.integer, _), (.double, _), (.coordinate, _): false
        }
    }

    package static func == (left: ComparableValue, right: ComparableValue) -> Bool {
        switch (left, right) {
        case (.bytes(let left), .bytes(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.double(let left), .double(let right)): left == right
        case (.integer(let integer), .double(let double)), (.double(let double), .integer(let integer)):
            self.order(integer, double) == 0
        case (.coordinate(let left, let leftTurn), .coordinate(let right, let rightTurn)):
            (left, leftTurn) == (right, rightTurn)
        case (.bytes, _), (.integer, _), (.double, _), (.coordinate, _): false
        }
    }

    /// Negative if the integer is less, 0 if both are the same number.
    ///
    /// NaN comes last.
    private static func order(_ integer: Int64, _ double: Double) -> Int {
        guard double < 0x1p63 else { return -1 }
        guard double >= -0x1p63 else { return 1 }
        let floor = double.rounded(.down)
        let whole = Int64(floor)
        if integer != whole { return integer < whole ? -1 : 1 }
        return floor == double ? 0 : -1
    }
}

extension ComparableValue: Hashable {
    package func hash(into hasher: inout Hasher) {
        switch self {
        case .bytes(let bytes): hasher.combine(bytes)
        case .double(let double): hasher.combine(double)
        case .integer(let integer):
            if let double = Double(exactly: integer) {
                hasher.combine(double)
            } else {
                hasher.combine(integer)
            }
        case .coordinate(let latitude, let longitude):
            hasher.combine(latitude)
            hasher.combine(longitude)
        }
    }
}
