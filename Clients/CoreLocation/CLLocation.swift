public import Foundation

/// A position on the globe, with the measurements of a receiver.
///
/// Equality is identity: two measurements of one position are two locations.
///
/// - Source: Apple's `CLLocation`.
open class CLLocation: NSObject, NSSecureCoding, NSCopying {
    /// The position.
    open var coordinate: CLLocationCoordinate2D { self.measurement.coordinate }

    /// Metres above mean sea level.
    open var altitude: CLLocationDistance { self.measurement.altitude }

    /// The radius of uncertainty of the position; negative if the position is invalid.
    open var horizontalAccuracy: CLLocationAccuracy { self.measurement.horizontalAccuracy }

    /// The uncertainty of the altitude; negative if the altitude is invalid.
    open var verticalAccuracy: CLLocationAccuracy { self.measurement.verticalAccuracy }

    /// The direction of movement; negative if invalid.
    open var course: CLLocationDirection { self.measurement.course }

    /// The uncertainty of the direction of movement; negative if invalid.
    open var courseAccuracy: CLLocationDirectionAccuracy { self.measurement.courseAccuracy }

    /// The speed of movement; negative if invalid.
    open var speed: CLLocationSpeed { self.measurement.speed }

    /// The uncertainty of the speed; negative if invalid.
    open var speedAccuracy: CLLocationSpeedAccuracy { self.measurement.speedAccuracy }

    /// The time of the measurement.
    open var timestamp: Date { self.measurement.timestamp }

    /// Metres above the WGS 84 ellipsoid; always 0, because only a receiver measures them.
    open var ellipsoidalAltitude: CLLocationDistance { 0 }

    /// The floor of a building; always `nil`, because only a receiver knows it.
    open var floor: CLFloor? { nil }

    /// The kind of source; `nil` if it is not known.
    ///
    /// Archives have none.
    public let sourceInformation: CLLocationSourceInformation?

    private let measurement: Measurement

    /// Creates a location from a position alone, measured now; altitude, course and speed are
    /// invalid.
    ///
    /// - Parameters:
    ///   - latitude: Degrees north of the equator, -90 to 90.
    ///   - longitude: Degrees east of the zero meridian, -180 to 180.
    public convenience init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
        self.init(
            coordinate: CLLocationCoordinate2D(latitude: latitude, longitude: longitude),
            altitude: 0,
            horizontalAccuracy: 0,
            verticalAccuracy: -1,
            timestamp: Date()
        )
    }

    /// Creates a location without movement.
    ///
    /// - Parameters:
    ///   - coordinate: The position.
    ///   - altitude: Metres above mean sea level.
    ///   - hAccuracy: The radius of uncertainty in metres; negative if the position is invalid.
    ///   - vAccuracy: The uncertainty of the altitude in metres; negative if the altitude is
    ///     invalid.
    ///   - timestamp: The time of the measurement.
    public convenience init(
        coordinate: CLLocationCoordinate2D,
        altitude: CLLocationDistance,
        horizontalAccuracy hAccuracy: CLLocationAccuracy,
        verticalAccuracy vAccuracy: CLLocationAccuracy,
        timestamp: Date
    ) {
        self.init(
            coordinate: coordinate,
            altitude: altitude,
            horizontalAccuracy: hAccuracy,
            verticalAccuracy: vAccuracy,
            course: -1,
            speed: -1,
            timestamp: timestamp
        )
    }

    /// Creates a location with movement.
    ///
    /// - Parameters:
    ///   - coordinate: The position.
    ///   - altitude: Metres above mean sea level.
    ///   - hAccuracy: The radius of uncertainty in metres; negative if the position is invalid.
    ///   - vAccuracy: The uncertainty of the altitude in metres; negative if the altitude is
    ///     invalid.
    ///   - course: Degrees from true north, clockwise; negative if invalid.
    ///   - speed: Metres a second; negative if invalid.
    ///   - timestamp: The time of the measurement.
    public convenience init(
        coordinate: CLLocationCoordinate2D,
        altitude: CLLocationDistance,
        horizontalAccuracy hAccuracy: CLLocationAccuracy,
        verticalAccuracy vAccuracy: CLLocationAccuracy,
        course: CLLocationDirection,
        speed: CLLocationSpeed,
        timestamp: Date
    ) {
        self.init(
            coordinate: coordinate,
            altitude: altitude,
            horizontalAccuracy: hAccuracy,
            verticalAccuracy: vAccuracy,
            course: course,
            courseAccuracy: -1,
            speed: speed,
            speedAccuracy: -1,
            timestamp: timestamp
        )
    }

    /// Creates a location with movement and its uncertainty.
    ///
    /// - Parameters:
    ///   - coordinate: The position.
    ///   - altitude: Metres above mean sea level.
    ///   - hAccuracy: The radius of uncertainty in metres; negative if the position is invalid.
    ///   - vAccuracy: The uncertainty of the altitude in metres; negative if the altitude is
    ///     invalid.
    ///   - course: Degrees from true north, clockwise; negative if invalid.
    ///   - courseAccuracy: The uncertainty of the course in degrees; negative if invalid.
    ///   - speed: Metres a second; negative if invalid.
    ///   - speedAccuracy: The uncertainty of the speed in metres a second; negative if invalid.
    ///   - timestamp: The time of the measurement.
    public init(
        coordinate: CLLocationCoordinate2D,
        altitude: CLLocationDistance,
        horizontalAccuracy hAccuracy: CLLocationAccuracy,
        verticalAccuracy vAccuracy: CLLocationAccuracy,
        course: CLLocationDirection,
        courseAccuracy: CLLocationDirectionAccuracy,
        speed: CLLocationSpeed,
        speedAccuracy: CLLocationSpeedAccuracy,
        timestamp: Date
    ) {
        self.measurement = Measurement(
            coordinate: coordinate,
            altitude: altitude,
            horizontalAccuracy: hAccuracy,
            verticalAccuracy: vAccuracy,
            course: course,
            courseAccuracy: courseAccuracy,
            speed: speed,
            speedAccuracy: speedAccuracy,
            timestamp: timestamp
        )
        self.sourceInformation = nil
        super.init()
    }

    /// Creates a location with movement, its uncertainty, and the kind of its source.
    ///
    /// - Parameters:
    ///   - coordinate: The position.
    ///   - altitude: Metres above mean sea level.
    ///   - hAccuracy: The radius of uncertainty in metres; negative if the position is invalid.
    ///   - vAccuracy: The uncertainty of the altitude in metres; negative if the altitude is
    ///     invalid.
    ///   - course: Degrees from true north, clockwise; negative if invalid.
    ///   - courseAccuracy: The uncertainty of the course in degrees; negative if invalid.
    ///   - speed: Metres a second; negative if invalid.
    ///   - speedAccuracy: The uncertainty of the speed in metres a second; negative if invalid.
    ///   - timestamp: The time of the measurement.
    ///   - sourceInfo: The kind of the source; archives leave it out.
    public init(
        coordinate: CLLocationCoordinate2D,
        altitude: CLLocationDistance,
        horizontalAccuracy hAccuracy: CLLocationAccuracy,
        verticalAccuracy vAccuracy: CLLocationAccuracy,
        course: CLLocationDirection,
        courseAccuracy: CLLocationDirectionAccuracy,
        speed: CLLocationSpeed,
        speedAccuracy: CLLocationSpeedAccuracy,
        timestamp: Date,
        sourceInfo: CLLocationSourceInformation
    ) {
        self.measurement = Measurement(
            coordinate: coordinate,
            altitude: altitude,
            horizontalAccuracy: hAccuracy,
            verticalAccuracy: vAccuracy,
            course: course,
            courseAccuracy: courseAccuracy,
            speed: speed,
            speedAccuracy: speedAccuracy,
            timestamp: timestamp
        )
        self.sourceInformation = sourceInfo
        super.init()
    }

    /// Reads an archived location; `nil` if the archive has none.
    public required init?(coder: NSCoder) {
        guard let measurement = Measurement(coder) else { return nil }
        self.measurement = measurement
        self.sourceInformation = nil
        super.init()
    }

    /// Writes the location into an archive; equal contents give equal bytes.
    open func encode(with coder: NSCoder) {
        self.measurement.encode(with: coder)
    }

    /// Always `true`: locations can be read where secure coding is required.
    open class var supportsSecureCoding: Bool { true }

    /// Returns the location itself, which never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Returns the distance to another location along the WGS 84 ellipsoid.
    ///
    /// The result is exact to a millimetre, except for positions within about half a degree of
    /// opposite each other. There it is the great circle's distance on a sphere, up to 0.5 % off.
    ///
    /// - Parameter location: The other location; its altitude has no effect.
    /// - Returns: The distance in metres.
    open func distance(from location: CLLocation) -> CLLocationDistance {
        Geodesic.metres(from: self.coordinate, to: location.coordinate)
    }

    /// A description of the location for people.
    open override var description: String {
        let place = "<\(self.coordinate.latitude),\(self.coordinate.longitude)>"
        return "\(place) +/- \(self.horizontalAccuracy)m (speed \(self.speed) mps / course \(self.course)) "
            + "@ \(self.timestamp)"
    }
}

// SAFETY: every stored property is a constant value.
extension CLLocation: @unchecked Sendable {}
