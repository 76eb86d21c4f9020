public import CoreLocation
public import Foundation
import PredicateFormat
import RecordModel

/// A sort descriptor for the distance from a location, the nearest first.
///
/// Equality and hash are by value.
///
/// - Source: Apple's `CKLocationSortDescriptor`.
open class CKLocationSortDescriptor: _CKKeySortDescriptor {
    /// The location.
    open var relativeLocation: CLLocation { self.storedLocation }

    private let storedLocation: CLLocation

    /// Creates a descriptor that sorts the locations under a key by their distance from a location.
    ///
    /// - Parameters:
    ///   - key: The name of a field with locations.
    ///   - relativeLocation: The origin of the distances; the nearest value comes first. If it is
    ///     off the globe, the query fails with `invalidArguments`.
    public init(key: String, relativeLocation: CLLocation) {
        self.storedLocation = relativeLocation
        super.init(sortKey: key, ascending: true)
    }

    /// Creates one for the farthest first, which `NSArray` can sort by and a query can't.
    private init(key: String?, relativeLocation: CLLocation, ascending: Bool) {
        self.storedLocation = relativeLocation
        super.init(sortKey: key, ascending: ascending)
    }

    /// Reads an archived descriptor; `nil` if the archive has none.
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
        // A location off the globe is not written: the archive then has no descriptor.
        super.archiveParts + (self.model.map { [Field("location", .location($0))] } ?? [])
    }

    /// Compares the distances of the values under the key in two records or dictionaries; an object
    /// without a location is the farthest.
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

    /// A descriptor with the same location and the other direction; a query refuses the farthest
    /// first.
    open override var reversedSortDescriptor: Any {
        CKLocationSortDescriptor(
            key: self.sortKey,
            relativeLocation: self.storedLocation,
            ascending: !self.ascending
        )
    }

    /// Returns whether an object is a descriptor with the same key, location and direction.
    open override func isEqual(_ object: Any?) -> Bool {
        guard super.isEqual(object), let other = object as? CKLocationSortDescriptor else { return false }
        let here = self.storedLocation.coordinate
        let there = other.storedLocation.coordinate
        return here.latitude == there.latitude && here.longitude == there.longitude
    }

    /// A description of the descriptor for people.
    open override var description: String { "\(super.description) from \(self.storedLocation)" }

    /// The location as the server knows it; `nil` if it is off the globe.
    var model: Location? {
        guard case .location(let location) = try? self.storedLocation.fieldValue(in: .default) else {
            return nil
        }
        return location
    }
}
