"""Namespaces of Brick and its neighbours, and the names of the classes that matter here.

The ontology itself is not needed to read a model: the classes of rooms, zones, floors and sensors are listed
here, for Brick 1.0 to 1.5 and RealEstateCore (REC). Classes that a model defines as their subclasses count,
too.
"""

from __future__ import annotations

from rdflib import Namespace

BRICK = Namespace("https://brickschema.org/schema/Brick#")
REC = Namespace("https://w3id.org/rec#")
REF = Namespace("https://brickschema.org/schema/Brick/ref#")
MQTT = Namespace("https://brickschema.org/schema/Brick/ref/mqtt#")
BACNET = Namespace("http://data.ashrae.org/bacnet/2020#")
"""BACnet terms of Brick up to 1.4."""
BACNET_2024 = Namespace("http://data.ashrae.org/bacnet/")
"""BACnet terms of Brick 1.5."""
QUDT = Namespace("http://qudt.org/schema/qudt/")
UNIT = Namespace("http://qudt.org/vocab/unit/")
OCCUPAIR = Namespace("urn:occupair:terms#")
"""Own terms, where Brick has none."""

CO2_CLASSES = ("Zone_CO2_Level_Sensor", "CO2_Level_Sensor", "CO2_Sensor")
"""CO2 sensors that may be those of a room, the most specific first."""
OTHER_CO2_CLASSES = ("Outside_Air_CO2_Sensor", "Return_Air_CO2_Sensor", "CO2_Differential_Sensor")
"""CO2 sensors that are not in a room."""

_FLOORS = "Floor Storey Level Basement BasementLevel MezzanineLevel RoofLevel Rooftop Parking_Level"
_WIDE = """
    Building SubBuilding VirtualBuilding Hospital School ShoppingMall Stadium Site
    Region Wing Outside Outdoor_Area OutdoorSpace Field_Of_Play Parking_Structure Shelter
"""
_ZONES = "Zone HVAC_Zone HVACZone Energy_Zone OccupancyZone Fire_Zone Lighting_Zone"
_ROOMS = """
    Ablutions_Room AccessControlZone AdmittingRoom Atrium Auditorium BackOffice BarRoom Bathroom Battery_Room
    Bedroom Bench_Space BicycleGarage Break_Room Breakroom Broadcast_Room Cabinet CableRoom Cafeteria
    CafeteriaRoom Cinema Classroom CleaningRoom ClimateControlRoom CloakRoom Cold_Box Common_Space Concession
    ConferenceRoom Conference_Room Control_Room ConversationRoom CookingRoom Copy_Room CopyingRoom Cubicle
    DataServerRoom Detention_Room DiningRoom DisabledToilet DishingRoom Distribution_Frame DressingRoom
    EducationalRoom Electrical_Room ElectricityRoom ElevatorRoom ElevatorShaft Elevator_Shaft Elevator_Space
    Employee_Entrance_Lobby Enclosed_Office Entrance Environment_Box Equipment_Room ExerciseRoom Exercise_Room
    ExhibitionRoom First_Aid_Room FittingRoom FoodHandlingRoom Food_Service_Room Freezer Garage Gatehouse
    Generator_Room GroupRoom Hallway Hazardous_Materials_Storage HealthcareRoom Hospitality_Box Hot_Box IDF
    Information_Area Janitor_Room Kitchenette Laboratory LaboratoryDry LaboratoryWet LaundryRoom Library
    LivingRoom LoadingReceivingRoom Loading_Dock Lobby LockerRoom Lounge MDF MailRoom Mail_Room MainEntrance
    Majlis Massage_Room Mechanical_Room Media_Hot_Desk Media_Production_Room Media_Room Medical_Room
    MeditationRoom Morgue MothersRoom MultiPurposeRoom NeonatalNursingRoom Office OfficeLandscape OfficeRoom
    Office_Kitchen Open_Office OperatingRoom OutpatientServicesRoom Pantry ParkingSpace Parking_Space
    PersonalHygiene PharmacyRoom PhoneBooth Plumbing_Room Prayer_Room Private_Office Pump_Room RadiologyRoom
    Reception RecordingRoom RecreationalRoom Rest_Room RestingRoom Restroom RetailRoom Retail_Room Riser Room
    Sauna SecurityRoom Security_Service_Room Server_Room ServiceEntrance ServiceShaft Service_Room
    Shared_Office ShelterGasLock ShelterRoom Shower ShowerRoom SmallStudyRoom Sports_Service_Room
    SprinklerRoom StaffRoom Staircase Stairwell Storage Storage_Room Studio Switch_Room TETRA_Room TeamRoom
    Team_Room Telecom_Room TelecommunicationRoom Theater TherapyRoom Ticketing_Booth Toilet Transformer_Room
    TreatmentRoom TreatmentWaitingRoom Tunnel UtilitiesRoom Vertical_Space Visitor_Lobby Wardrobe
    WasteManagementRoom Waste_Storage Water_Tank Workshop Workspace
"""

ANY_SPACE = frozenset({"Space"})
"""Superclass of rooms in Brick, and of all locations in REC: a room, unless the entity has another class."""
FLOORS = frozenset(_FLOORS.split())
WIDE_LOCATIONS = FLOORS | frozenset(_WIDE.split())
"""Locations of several rooms, or outdoors."""
ZONES = frozenset(_ZONES.split())
ROOMS = frozenset(_ROOMS.split())
"""Rooms and other single spaces."""
