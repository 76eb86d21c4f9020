/// An angle on the globe, in degrees.
public typealias CLLocationDegrees = Double

/// A length in metres.
public typealias CLLocationDistance = Double

/// The radius of an uncertainty in metres; negative if the value that it belongs to is invalid.
public typealias CLLocationAccuracy = Double

/// A speed in metres a second; negative if invalid.
public typealias CLLocationSpeed = Double

/// The uncertainty of a speed in metres a second; negative if invalid.
public typealias CLLocationSpeedAccuracy = Double

/// A direction in degrees from true north, clockwise; negative if invalid.
public typealias CLLocationDirection = Double

/// The uncertainty of a direction in degrees; negative if invalid.
public typealias CLLocationDirectionAccuracy = Double

/// A position on the globe, in the reference frame WGS 84.
///
/// - Source: Apple's `CLLocationCoordinate2D`.
public struct CLLocationCoordinate2D: Sendable {
    /// Degrees north of the equator, -90 to 90.
    public var latitude: CLLocationDegrees
    /// Degrees east of the zero meridian, -180 to 180.
    public var longitude: CLLocationDegrees

    /// Creates the position on the equator and the zero meridian.
    public init() {
        self.init(latitude: 0, longitude: 0)
    }

    /// Creates a position; see `CLLocationCoordinate2DIsValid(_:)`.
    ///
    /// - Parameters:
    ///   - latitude: Degrees north of the equator, -90 to 90.
    ///   - longitude: Degrees east of the zero meridian, -180 to 180.
    public init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
        self.latitude = latitude
        self.longitude = longitude
    }
}

/// A coordinate that is not a position.
public let kCLLocationCoordinate2DInvalid = CLLocationCoordinate2D(latitude: -180, longitude: -180)

/// Creates a position; see `CLLocationCoordinate2DIsValid(_:)`.
///
/// - Parameters:
///   - latitude: Degrees north of the equator, -90 to 90.
///   - longitude: Degrees east of the zero meridian, -180 to 180.
/// - Returns: The position, also if it is not valid.
public func CLLocationCoordinate2DMake(
    _ latitude: CLLocationDegrees,
    _ longitude: CLLocationDegrees
) -> CLLocationCoordinate2D {
    CLLocationCoordinate2D(latitude: latitude, longitude: longitude)
}

/// Returns whether a coordinate is a position.
///
/// - Parameter coord: The coordinate.
/// - Returns: `true` if the latitude is within ±90 degrees and the longitude within ±180.
public func CLLocationCoordinate2DIsValid(_ coord: CLLocationCoordinate2D) -> Bool {
    abs(coord.latitude) <= 90 && abs(coord.longitude) <= 180
}
