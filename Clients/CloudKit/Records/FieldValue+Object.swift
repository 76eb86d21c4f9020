import CoreLocation
import Foundation
import RecordModel

extension FieldValue {
    /// Returns the value as the object that users get: of the classes that Apple's framework
    /// returns.
    ///
    /// They are objects and not Swift's own types, because only objects cast to every type that can
    /// have the value: `NSNumber as? Double` and `as? Int` both succeed for a whole number.
    /// References without a zone get the record's, `zone`.
    ///
    /// Only bytes are Swift's own type: `Data as? NSData` succeeds as well, and Foundation casts an
    /// `NSData` to `Data` byte by byte, 70 ns each.
    func object(in zone: CKRecordZoneID) -> (any __CKRecordObjCValue)? {
        switch self {
        case .string(let string): NSString(string: string)
        case .int64(let integer): NSNumber(value: integer)
        case .double(let double): NSNumber(value: double)
        case .timestamp(let seconds): NSDate(timeIntervalSinceReferenceDate: seconds)
        case .bytes(let bytes): Data(bytes)
        case .location(let location): CLLocation(location)
        case .reference(let reference): CKReference(reference, in: zone)
        case .stringList(let strings): NSArray(array: strings.map { NSString(string: $0) })
        case .int64List(let integers): NSArray(array: integers.map { NSNumber(value: $0) })
        case .doubleList(let doubles): NSArray(array: doubles.map { NSNumber(value: $0) })
        case .timestampList(let list):
            NSArray(array: list.map { NSDate(timeIntervalSinceReferenceDate: $0) })
        case .bytesList(let list): NSArray(array: list.map { NSData(data: Data($0)) })
        case .locationList(let locations): NSArray(array: locations.map { CLLocation($0) })
        case .referenceList(let references): NSArray(array: references.map { CKReference($0, in: zone) })
        case .emptyList: NSArray()
        case .asset(let asset): CKAsset(asset)
        case .assetList(let assets): NSArray(array: assets.map { CKAsset($0) })
        case .clear: nil
        }
    }

    /// Whether the value is an asset or a list of assets.
    var holdsAssets: Bool { self.type == .asset || self.type == .assetList }
}

extension CLLocation {
    convenience init(_ location: Location) {
        self.init(
            coordinate: CLLocationCoordinate2D(latitude: location.latitude, longitude: location.longitude),
            altitude: location.altitude,
            horizontalAccuracy: location.horizontalAccuracy,
            verticalAccuracy: location.verticalAccuracy,
            course: location.course,
            speed: location.speed,
            timestamp: Date(timeIntervalSinceReferenceDate: location.timestamp)
        )
    }
}

extension CKReference {
    convenience init(_ reference: Reference, in zone: CKRecordZoneID) {
        let zoneID = reference.zone.map { CKRecordZoneID($0) } ?? zone
        self.init(
            recordID: CKRecordID(recordName: reference.recordName, zoneID: zoneID),
            action: reference.action == .deleteSelf ? .deleteSelf : .none
        )
    }
}
