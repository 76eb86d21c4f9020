public import CoreLocation
public import Foundation
import PredicateFormat
import RecordModel

/// A sort descriptor that sorts by the distance from a place, the nearest first.
///
/// Equality and hash are by value.
open class CKLocationSortDescriptor: _CKKeySortDescriptor {
    /// The place.
    open var relativeLocation: CLLocation { self.storedLocation }

    private let storedLocation: CLLocation

    /// Creates a descriptor that sorts by the distance of the locations under a key from a place.
    public init(key: String, relativeLocation: CLLocation) {
        self.storedLocation = relativeLocation
        super.init(sortKey: key, ascending: true)
    }

    /// For the farthest first, which `NSArray` can sort by and a query can't.
    private init(key: String?, relativeLocation: CLLocation, ascending: Bool) {
        self.storedLocation = relativeLocation
        super.init(sortKey: key, ascending: ascending)
    }

    /// Reads an archived descriptor; `nil` when the archive has none.
    public required init?(coder: NSCoder) {
        guard let body = coder.archivedBody(), body.text("key") != nil,
            case .location(let location) = body.value("location")
        else {
            return nil
        }
        self.storedLocation = CLLocation(location)
        super.init(coder: coder)
    }

    override var archiveParts: [Field] {
        // A place off the globe is not kept: what is read is no descriptor then.
        super.archiveParts + (self.model.map { [Field("location", .location($0))] } ?? [])
    }

    /// Compares the distances of what two records, or two dictionaries, have under the key; what has no location there is the
    /// farthest.
    open override func compare(_ object1: Any, to object2: Any) -> ComparisonResult {
        let distances = [object1, object2].map { self.metres(to: $0) }
        return self.directed(
            FieldOrder.compare(.value(.double(distances[0])), .value(.double(distances[1])))
        )
    }

    private func metres(to object: Any) -> Double {
        let value = PredicateEvaluation(of: object).constant(self.sortKey ?? "")
        guard case .constant(.value(.location(let location))) = value else { return .infinity }
        return CLLocation(location).distance(from: self.storedLocation)
    }

    /// A descriptor with the same place and the other direction; a query refuses the farthest first.
    open override var reversedSortDescriptor: Any {
        CKLocationSortDescriptor(
            key: self.sortKey,
            relativeLocation: self.storedLocation,
            ascending: !self.ascending
        )
    }

    /// Returns whether an object is a descriptor with the same key, place and direction.
    open override func isEqual(_ object: Any?) -> Bool {
        guard super.isEqual(object), let other = object as? CKLocationSortDescriptor else { return false }
        let here = self.storedLocation.coordinate
        let there = other.storedLocation.coordinate
        return here.latitude == there.latitude && here.longitude == there.longitude
    }

    /// The descriptor for people to read.
    open override var description: String { "\(super.description) from \(self.storedLocation)" }

    /// The place as the server knows it; `nil`: off the globe.
    var model: Location? {
        guard case .location(let location) = try? self.storedLocation.fieldValue(in: .default) else {
            return nil
        }
        return location
    }
}
